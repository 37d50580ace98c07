"""The effects of a row by its columns: pairs of baseline and candidate cell with their change, and changes without figures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.patterns import pattern
from ingest.claims.tables.captions import caption_above
from ingest.claims.tables.cells import Cell, Row, with_unit
from ingest.claims.tables.header_cells import FALL_HEADER, GAIN_HEADER, Columns, role_of
from ingest.claims.words.vocabulary import GAIN_HEADERS, Sense
from schemas.rows.claim import ClaimMetric


def pairs_by_headers(row: Row, columns: Columns) -> list[Effect]:
    """The pairs of baseline and candidate cell: `| load | 30 s | 10 s |` below `Case | Before | After`.

    Of several candidate columns, the one that the change of the row agrees with.
    """
    if columns.before is None or columns.before >= len(row):
        return []
    options = [pairs for column in columns.after if column < len(row) and (pairs := list(_pairs(row, columns, column)))]
    agreeing = [pairs for pairs in options if any(pair.change and agrees(pair, pair.change) for pair in pairs)]
    return (agreeing[-1:] or options[:1] or [[]])[0]


def _pairs(row: Row, columns: Columns, column: int) -> Iterator[Effect]:
    """The pair of two cells; several pairs where both cells have several figures, `367 ms / 15 MB` or `36 µs, 4 KB, 49 allocs`."""
    assert columns.before is not None
    first, second = figures(row, columns, columns.before), figures(row, columns, column)
    several = len(first) == len(second) > 1 and all(_LISTED.search(row[side].words) for side in (columns.before, column))
    if not first and not second and _LOAD.search(row[0].words):
        first, second = _shares(row[columns.before]), _shares(row[column])
    for before, after in zip(first, second, strict=True) if several else zip(first[:1], second[:1], strict=False):
        pair = Effect(min(before.start, after.start), max(before.end, after.end), before, after)
        whole = _with_change(pair, row, columns, column, must_agree=several)
        is_proven = before.kind is after.kind and whole.change is not None and agrees(pair, whole.change)
        if before.low == after.low == 0 or _are_equal_counts(before, after):  # `0 B | 0 B` claims nothing
            continue
        if _are_comparable(before, after, columns) or (is_proven and before.unit is after.unit is None):
            yield whole


_MANY = 1000


def _are_equal_counts(before: Quantity, after: Quantity) -> bool:
    """Whether both figures are the same large whole number, as the records that two runs read."""
    return (
        before.low == after.low >= _MANY and before.metric in (None, ClaimMetric.SIZE, ClaimMetric.OPERATIONS) and before.low.is_integer()
    )


_LISTED = pattern(r"^[^(]*\d[^(]*(?:\s/\s?|,\s)[~*_`]*\d|\d\s?/\s?\d|\d\s?[A-Za-zµ]{1,3}/\d")
"""Several figures of one cell, of different measures; not one with another unit in brackets, `111 ms (11 µs/query)`."""

_LOAD = pattern(r"\b(?:cpu|processor|ram|mem(?:ory)?|heap)\b(?! util)", re.IGNORECASE)
"""Row labels of resources whose usage is given as a percentage."""


def _shares(cell: Cell) -> list[Quantity]:
    """The percentage of a cell without any other number, `80%` in a row `CPU`; else none."""
    return [share for share in cell.quantities if len(cell.quantities) == 1 and not share.sign]


def figures(row: Row, columns: Columns, column: int) -> list[Quantity]:
    """The figures of a cell; bare numbers with the unit of the header cell, `Before (ms)`, the row label or the top left cell."""
    header = columns.headers[column] if column < len(columns.headers) else ""
    corner = columns.headers[0] if columns.headers and not row[0].quantities else ""
    return [with_unit(figure, header, row[0].words, corner) for figure in row[column].figures]


def _are_comparable(before: Quantity, after: Quantity, columns: Columns) -> bool:
    """Whether the figures of two cells can be a pair: of one kind, and of one metric where both have units."""
    if before.kind is not after.kind:
        return False
    if before.unit and after.unit:
        return before.unit.metric is after.unit.metric
    return not columns.is_inferred  # another row gave the sides of the columns, not the metric of bare numbers


def _with_change(pair: Effect, row: Row, columns: Columns, column: int, *, must_agree: bool) -> Effect:
    """The pair with its change, behind the candidate figure, `10 s (3x)`, or in the change column."""
    own = [quantity for quantity in row[column].quantities if quantity.start >= pair.end and quantity.kind is not Kind.VALUE]
    stated = [*own, *changes(row, columns.change, columns.headers)]
    change = next((change for change in stated if change.start > pair.start and agrees(pair, change)), None)
    if change is None and stated and not must_agree and stated[0].start > pair.start:
        change = stated[0]
    if change is None:
        return pair
    gains = GAIN_HEADER.search(columns.headers[columns.change]) if columns.change is not None else None
    whole = pair._replace(end=max(pair.end, change.end), change=change)
    is_bare = pair.before is not None and pair.before.unit is None and agrees(pair, change)
    if not (gains and (is_bare or change.kind is Kind.TIMES)) and not (is_bare and change in own and change.kind is Kind.TIMES):
        return whole
    is_loss = change.high < 1 if change.kind is Kind.TIMES else change.sign == "-"
    return whole._replace(is_order_open=is_loss, sense=Sense.LOSS if is_loss else Sense.GAIN, word=gains[0].lower() if gains else "")


def changes(row: Row, column: int | None, headers: tuple[str, ...]) -> list[Quantity]:
    """The factors and percentages of the change column; a bare `3.2` below `Speedup` is one too. None if the row has no such cell."""
    if column is None or column >= len(row):
        return []
    found = row[column].quantities
    if len(found) == 1 and found[0].kind is Kind.VALUE and found[0].unit is None and _OF_FACTORS.match(headers[column] if headers else ""):
        return [found[0]._replace(kind=Kind.TIMES)]
    return [quantity for quantity in found if quantity.kind is not Kind.VALUE]


_OF_FACTORS = pattern(r"speed-?ups?(?! ?\(?%)", re.IGNORECASE)
"""The header cell of a column of factors, in which bare numbers are factors: `Speedup` above `3.2`."""


def cells_with_own_change(text: str, row: Row, columns: Columns) -> list[Effect]:
    """Pairs of the baseline with each later cell that has its own change.

    Two for `25 s | 2 s (12x faster) | 6 s (4x faster)` below `Baseline | Warm | Cold`; none for fewer than two.
    """
    if columns.before is None or columns.before >= len(row) or sum(len(cell.quantities) > 1 for cell in row) < 2:
        return []
    before = figures(row, columns, columns.before)[:1]
    found: list[Effect] = []
    for cell in row[columns.before + 1 :] if before else ():
        after, *stated = cell.quantities or (None,)
        if after is None or after.kind is not before[0].kind or not _are_comparable(before[0], after, columns):
            continue
        pair = Effect(after.start if found else before[0].start, after.end, before[0], after)
        own = [change for change in stated if change.kind is not Kind.VALUE and agrees(pair, change)]
        found += [pair._replace(end=end_of_bracket(text, change.end), change=change) for change in own[:1]]
    return found if len(found) > 1 else []


_CLOSES = pattern(r"[^()|\n]{0,30}\)")


def end_of_bracket(text: str, end: int) -> int:
    """The end of the bracket around a change that ends at `end`; `end` without a bracket."""
    bar = max(0, text.rfind("|", 0, end))
    is_open = text.rfind("(", bar, end) > text.rfind(")", bar, end)
    found = _CLOSES.match(text, end) if is_open else None
    return found.end() if found else end


_SIGNS = ("+", "-")
_SENSES = {"+": Sense.GAIN, "-": Sense.LOSS}
"""The meaning of a sign in a column of gains."""

_NO_CHANGE = ((Kind.TIMES, 1), (Kind.PERCENT, 100))
"""`1x` is no change, and `100%` usually a state of completion."""

_SPEEDUP = pattern(r"\b(?:speed-?ups?|faster|improvement|gains?)\b", re.IGNORECASE)
_BASE_ROW = pattern(r"baseline|reference", re.IGNORECASE)
_BAND = pattern(r"\bwithin\b|^[^\d%]*±", re.IGNORECASE)
"""`within ±3%`: no change is beyond it."""


_VERSUS_ANOTHER = pattern(r"(?:Δ|delta|change|diff\w*)?\s?vs\.?\s", re.IGNORECASE)
"""`Δ vs Previous` beside `Δ vs Baseline`: the same figure compared with another."""


def change_without_figures(row: Row, columns: Columns) -> Effect | None:
    """The change in the change column, without figures: `| load | 3x |` below `Case | Speedup`. None in the row of the baseline."""
    found = changes(row, columns.change, columns.headers)
    if columns.change is not None and columns.has_goals:
        return _change_beside_goal(row, columns.change)
    others = {index for index, header in enumerate(columns.headers) if index != columns.change and _VERSUS_ANOTHER.match(header)}
    shares = [one for index, cell in enumerate(row) for one in cell.quantities if one.kind is Kind.PERCENT and index not in others]
    if (
        not found
        or columns.change is None
        or len(shares) > 1
        or _BASE_ROW.search(row[columns.change].words)
        or _BAND.search(row[columns.change].words)
        or _BASE_ROW.search(row[0].words)
    ):
        return None
    change = found[0]
    if change.low == change.high and (change.kind, change.low) in _NO_CHANGE and not change.sign:
        return None
    sense = Sense.LOSS if columns.is_reciprocal else Sense.GAIN
    if change.kind is Kind.PERCENT:
        is_fall = change.sign in _SIGNS[1:] or (
            not change.sign and (FALL_HEADER.search(columns.headers[columns.change]) or row[columns.change].words.endswith("↓"))
        )
        is_gain = change.sign and not columns.only_falls and _SPEEDUP.search(columns.headers[columns.change])
        sense = _SENSES[change.sign] if is_gain else Sense.FALL if is_fall else Sense.RISE if change.sign else sense
    whole = Effect(change.start, change.end, change=change, sense=sense, word=columns.headers[columns.change].lower())
    beside = figures(row, columns, columns.change - 1) if change.sign and columns.change > 1 else []
    if len(beside) == 1 and beside[0].unit:
        whole = whole._replace(start=beside[0].start, after=beside[0], word=change.sign)
    return whole


def with_figures_of_series(effect: Effect, above: Sequence[Row], row: Row, columns: Columns) -> Effect:
    """A percentage with the figure beside it and the one that it compares with: of the row above, or of the first row.

    `Baseline | 40 s | -`, `+ cache | 20 s | 50%`, `+ index | 10 s | 50%`, `Total | 10 s | 75%`.
    """
    is_alone = not (effect.is_pair or effect.labels) and effect.change is not None
    if columns.change is None or not above or not is_alone or effect.change is None or effect.change.kind is not Kind.PERCENT:
        return effect
    own = figures(row, columns, columns.change - 1) if columns.change > 1 else []
    if len(own) != 1 or own[0].unit is None:
        return effect
    if effect.after and (effect.after != own[0] or changes(above[0], columns.change, columns.headers)):  # without a row of the baseline
        return effect
    for other in (above[-1], above[0]):
        compared = figures(other, columns, columns.change - 1) if len(other) >= columns.change else []
        pair = Effect(own[0].start, effect.end, compared[0], own[0], effect.change) if len(compared) == 1 else None
        if pair and compared[0].has_metric_of(own[0]) and agrees(pair, effect.change):
            return pair
    return effect


_NAME = pattern(r"[*_`]*\s(?P<name>[A-Za-z][\w-]*)")


def named_changes(text: str, row: Row, columns: Columns) -> list[Effect]:
    """`+111% semantic, +49% hybrid` in a column of gains: signed percentages, each with the beginning of another header cell."""
    if columns.change is None or columns.change >= len(row) or not GAIN_HEADER.search(columns.headers[columns.change]):
        return []
    cell = row[columns.change]
    found: list[Effect] = []
    for one in cell.quantities:
        name = _NAME.match(text, one.end, cell.end)
        of = [header for header in columns.headers if name and header.lower().startswith(name["name"].lower())]
        if one.kind is not Kind.PERCENT or one.sign not in _SENSES or name is None or len(of) != 1:
            return []
        found.append(
            Effect(one.start, name.end(), change=one, sense=_SENSES[one.sign], word=columns.headers[columns.change].lower(), labels=of[0])
        )
    return found


_OF_A_CHANGE = pattern(r"reduction|savings?|improvement|speed(?:-?up)?|throughput|increase|gain", re.IGNORECASE)


def _change_beside_goal(row: Row, column: int) -> Effect | None:
    """The achieved percentage or factor beside its goal: `| Copy reduction | 40% | 50% |`. None if the row label names no change."""
    change = next(iter(row[column].quantities), None) if column < len(row) else None
    label = _OF_A_CHANGE.search(row[0].words)
    if label is None or row[0].quantities or change is None or change.kind is Kind.VALUE:
        return None
    sense = Sense.FALL if FALL_HEADER.search(row[0].words) else Sense.GAIN
    return Effect(change.start, change.end, change=change, sense=sense, word=label[0].lower())


_SAYS_GAINS = pattern(rf"\b(?:{GAIN_HEADERS})s?\b", re.IGNORECASE)


def captioned_gains(text: str, start: int, headers: Row, row: Row) -> list[Effect]:
    """The changes of a row of signed percentages, `| +12% | -3% |`, in a table below `Average speedups by instance`."""
    cells = [cell.quantities for cell in row[1:] if cell.words]
    are_percentages = all(len(found) == 1 and found[0].kind is Kind.PERCENT and found[0].sign in _SIGNS for found in cells)
    if len(cells) < 2 or not are_percentages or any(role_of(header.words) for header in headers[1:]):
        return []
    caption = _SAYS_GAINS.search(caption_above(text, start))
    if caption is None:
        return []
    word = caption[0].lower()
    return [Effect(found.start, found.end, change=found, sense=_SENSES[found.sign], word=word) for (found,) in cells]


_OPENS = pattern(r"[*_`]*\s?\(")


def with_candidate_figure(text: str, effect: Effect, row: Row) -> Effect:
    """The signed percentage with the candidate figure before it in its cell: `26.1 KB (-3.2%)`; else the effect as it is."""
    cell = next((cell for cell in row if cell.start <= effect.start < cell.end), None)
    figure = cell.quantities[0] if cell and len(cell.quantities) > 1 and cell.quantities[1] == effect.change else None
    if figure is None or figure.metric in (None, ClaimMetric.COST) or not _OPENS.fullmatch(text, figure.end, effect.start):
        return effect
    return effect._replace(start=figure.start, after=figure)
