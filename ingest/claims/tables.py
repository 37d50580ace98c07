"""Tables: which columns hold the figure before, the figure after and the change; one row of one metric is one effect."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.claims.captions import caption_above
from ingest.claims.cells import Cell, Row, layout, with_unit
from ingest.claims.effect import Effect
from ingest.claims.grammar import effects
from ingest.claims.heads import GAINING, Columns, by_heads, completed, proven, role_of, side_by_side
from ingest.claims.lexicon import FALLS, GAINS, Sense
from ingest.claims.quantities import Kind, Quantity
from ingest.claims.ratios import agrees
from ingest.claims.transposed import transposed

_NO_CHANGE = ((Kind.TIMES, 1), (Kind.PERCENT, 100))
"""`1x` is none, and `100%` means that something is done."""

_SIGNS = ("+", "-")
_SENSES = {"+": Sense.GAIN, "-": Sense.LOSS}
"""What a sign says in a column of gains."""

_FALLS = re.compile(FALLS, re.IGNORECASE)
_OF_SETTINGS = re.compile(
    r"(?:[\w-]+ )?(?:settings?|config\w*|options?|parameters?|flags?|limits?|quotas?|env\w*|variables?)$", re.IGNORECASE
)
"""The head of the labels in a table of settings."""

_BASE_ROW = re.compile(r"baseline|reference", re.IGNORECASE)


def row_effects(text: str, start: int, end: int) -> Iterator[tuple[Effect, str, str]]:
    """The effects of the table's rows, with the words of row and heads that tell what each measures, and with the rest of its cell."""
    heads, rows = layout(text, start, end)
    first = by_heads(heads)
    if heads and _OF_SETTINGS.match(heads[0].words) and first.change is None:  # `Config | Time | Speedup` is of what was measured
        return
    if first.before is None and not first.after and first.change is None and (sideways := list(transposed(heads, rows))):
        yield from ((effect, words, "") for effect, words in sideways)
        return
    several = side_by_side(heads)
    columns = several[0] if several else completed(first, rows)
    for row in rows:
        for effect in _per_cell(text, start, heads, row) or _effects(text, row, columns):
            yield effect, _words(row, columns, effect), _rest(text, row, effect)
        for others in several[1:]:
            for effect in _by_heads(row, others):
                yield effect, _words(row, others, effect), ""


def _effects(text: str, row: Row, columns: Columns) -> list[Effect]:
    inline = [effect for cell in row for effect in effects(text, list(cell.quantities), cell.start, cell.end)]
    if pairs := [effect for effect in inline if effect.is_pair]:
        return [*_beside(pairs, row, columns), *(_with_next_cell(text, effect, row) for effect in pairs)]
    if of_heads := _each_against_first(text, row, columns) or _by_heads(row, columns):
        return [] if _is_of_marks(row, of_heads) else of_heads
    alone = _change_alone(row, columns)
    fills_its_cell = alone and columns.change is not None and row[columns.change].words in text[alone.start : alone.end]
    if effect := proven(row, columns) or (alone if fills_its_cell else None):
        return [] if _is_of_marks(row, [effect]) else [effect]
    if each := _each_named(text, row, columns):
        return each
    said = [effect for effect in inline if effect.word not in _SIGNS]
    return said or ([alone] if alone else inline)


_MARK, _BEST_MARK = re.compile(r"(?:.* )?(?:performance|accessib\w+|best practices|seo|pwa)$", re.IGNORECASE), 100


def _is_of_marks(row: Row, found: list[Effect]) -> bool:
    """Whether they are marks of an audit: whole numbers up to a hundred, of nothing but `Performance`."""
    figures = [figure for effect in found for figure in (effect.before, effect.after) if figure]
    are_marks = all(figure.unit is None and figure.low.is_integer() and figure.within(0, _BEST_MARK) for figure in figures)
    return bool(figures) and are_marks and _MARK.match(row[0].words) is not None


def _beside(pairs: list[Effect], row: Row, columns: Columns) -> list[Effect]:
    """The pairs of the columns before and after, where those that stand in single cells are of other columns."""
    figures = () if columns.is_learnt else ((pair, (pair.before, pair.after)) for pair in _by_heads(row, columns))
    taken = [(pair.start, pair.end) for pair in pairs]
    return [pair for pair, both in figures if not any(low <= one.start < high for low, high in taken for one in both if one)]


def _with_next_cell(text: str, effect: Effect, row: Row) -> Effect:
    """A pair in a cell, with the change in the next cell."""
    following = next((cell for cell in row if cell.start > effect.end), None)
    stated = [change for change in following.quantities if change.kind is not Kind.VALUE] if following else []
    if not stated or not agrees(effect, stated[0]):
        return effect
    return effect._replace(end=_closed(text, stated[0].end), change=stated[0])


_CLOSES = re.compile(r"[^()|\n]{0,30}\)")


def _closed(text: str, end: int) -> int:
    """Where the bracket ends that a change stands in."""
    is_open = text.rfind("(", text.rfind("|", 0, end), end) > text.rfind(")", 0, end)
    found = _CLOSES.match(text, end) if is_open else None
    return found.end() if found else end


def _each_against_first(text: str, row: Row, columns: Columns) -> list[Effect]:
    """`Baseline | Warm | Cold`, `25 s | 2 s (12x faster) | 6 s (4x faster)`: several cells, each with the change it is of that before."""
    if columns.before is None or columns.before >= len(row):
        return []
    before = _figures(row, columns, columns.before)[:1]
    found: list[Effect] = []
    for cell in row[columns.before + 1 :] if before else ():
        after, *stated = cell.quantities or (None,)
        if after is None or after.kind is not before[0].kind or not _is_like(before[0], after, columns):
            continue
        pair = Effect(after.start if found else before[0].start, after.end, before[0], after)
        own = [change for change in stated if change.kind is not Kind.VALUE and agrees(pair, change)]
        found += [pair._replace(end=_closed(text, change.end), change=change) for change in own[:1]]
    return found if len(found) > 1 else []


_SAYS_GAINS = re.compile(rf"\b(?:{GAINS})s?\b", re.IGNORECASE)


def _per_cell(text: str, start: int, heads: Row, row: Row) -> list[Effect]:
    """`Average speedups by instance` above cells that hold nothing but a signed percentage: each is one."""
    cells = [cell.quantities for cell in row[1:] if cell.words]
    are_percentages = all(len(found) == 1 and found[0].kind is Kind.PERCENT and found[0].sign in _SIGNS for found in cells)
    if len(cells) < 2 or not are_percentages or any(role_of(head.words) for head in heads[1:]):
        return []
    caption = _SAYS_GAINS.search(caption_above(text, start))
    if caption is None:
        return []
    word = caption[0].lower()
    return [Effect(found.start, found.end, change=found, sense=_SENSES[found.sign], word=word) for (found,) in cells]


def _by_heads(row: Row, columns: Columns) -> list[Effect]:
    """The pairs of the columns before and after; where several are after, those that the change of the row is of."""
    if columns.before is None or columns.before >= len(row):
        return []
    options = [pairs for column in columns.after if column < len(row) and (pairs := list(_pairs(row, columns, column)))]
    agreeing = [pairs for pairs in options if any(pair.change and agrees(pair, pair.change) for pair in pairs)]
    return (agreeing[-1:] or options[:1] or [[]])[0]


def _pairs(row: Row, columns: Columns, column: int) -> Iterator[Effect]:
    """The figure before with that after; each with its like where the cells hold several, `367 ms / 15 MB`."""
    assert columns.before is not None
    first, second = _figures(row, columns, columns.before), _figures(row, columns, column)
    several = len(first) == len(second) > 1 and "/" in row[columns.before].words and "/" in row[column].words
    if not first and not second and _LOAD.search(row[0].words):
        first, second = _shares(row[columns.before]), _shares(row[column])
    for before, after in zip(first, second, strict=True) if several else zip(first[:1], second[:1], strict=False):
        pair = Effect(min(before.start, after.start), max(before.end, after.end), before, after)
        whole = _with_change(pair, row, columns, column, must_agree=several)
        is_proven = before.kind is after.kind and whole.change is not None and agrees(pair, whole.change)
        if _is_like(before, after, columns) or (is_proven and before.unit is after.unit is None):
            yield whole


_LOAD = re.compile(r"\b(?:cpu|processor|ram|mem(?:ory)?|heap)\b(?! util)", re.IGNORECASE)
"""Labels of rows whose percentages say how much of a machine is taken."""


def _shares(cell: Cell) -> list[Quantity]:
    """The percentage that a cell holds and nothing else: of a processor, say."""
    return [share for share in cell.quantities if len(cell.quantities) == 1 and not share.sign]


def _figures(row: Row, columns: Columns, column: int) -> list[Quantity]:
    head = columns.heads[column] if column < len(columns.heads) else ""
    return [with_unit(figure, head, row[0].words) for figure in row[column].figures]


def _is_like(before: Quantity, after: Quantity, columns: Columns) -> bool:
    if before.kind is not after.kind:
        return False
    if before.unit and after.unit:
        return before.unit.metric is after.unit.metric
    return not columns.is_learnt  # that the columns of another row are before and after says nothing of bare numbers


def _with_change(pair: Effect, row: Row, columns: Columns, column: int, *, must_agree: bool) -> Effect:
    """The pair with its change: behind the figure or in a cell of its own."""
    own = [quantity for quantity in row[column].quantities if quantity.start >= pair.end and quantity.kind is not Kind.VALUE]
    stated = [*own, *_changes(row, columns.change, columns.heads)]
    change = next((change for change in stated if change.start > pair.start and agrees(pair, change)), None)
    if change is None and stated and not must_agree and stated[0].start > pair.start:
        change = stated[0]
    if change is None:
        return pair
    gains = GAINING.search(columns.heads[columns.change]) if columns.change is not None else None
    whole = pair._replace(end=max(pair.end, change.end), change=change)
    is_bare = pair.before is not None and pair.before.unit is None and agrees(pair, change)
    if not (gains and (is_bare or change.kind is Kind.TIMES)) and not (is_bare and change in own and change.kind is Kind.TIMES):
        return whole
    is_loss = change.high < 1 if change.kind is Kind.TIMES else change.sign == "-"
    return whole._replace(swaps=is_loss, sense=Sense.LOSS if is_loss else Sense.GAIN, word=gains[0].lower() if gains else "")


def _changes(row: Row, column: int | None, heads: tuple[str, ...]) -> list[Quantity]:
    if column is None or column >= len(row):
        return []
    found = row[column].quantities
    if len(found) == 1 and found[0].kind is Kind.VALUE and found[0].unit is None and _OF_FACTORS.match(heads[column] if heads else ""):
        return [found[0]._replace(kind=Kind.TIMES)]
    return [quantity for quantity in found if quantity.kind is not Kind.VALUE]


_OF_FACTORS = re.compile(r"speed-?ups?(?! ?\(?%)", re.IGNORECASE)
"""The head of a column of factors, which may leave the `x` out."""


def _change_alone(row: Row, columns: Columns) -> Effect | None:
    """A column of speedups without figures. The row that all others are compared with claims nothing."""
    found = _changes(row, columns.change, columns.heads)
    if columns.change is not None and columns.has_goals:
        return _achieved(row, columns.change)
    shares = [quantity for cell in row for quantity in cell.quantities if quantity.kind is Kind.PERCENT]
    if (
        not found
        or columns.change is None
        or len(shares) > 1
        or _BASE_ROW.search(row[columns.change].words)
        or _BASE_ROW.search(row[0].words)
    ):
        return None
    change = found[0]
    if change.low == change.high and (change.kind, change.low) in _NO_CHANGE and not change.sign:
        return None
    sense = Sense.LOSS if columns.is_reciprocal else Sense.GAIN
    if change.kind is Kind.PERCENT:
        is_fall = change.sign in _SIGNS[1:] or (not change.sign and _FALLS.search(columns.heads[columns.change]))
        sense = Sense.FALL if is_fall else Sense.RISE if change.sign else sense
    whole = Effect(change.start, change.end, change=change, sense=sense, word=columns.heads[columns.change].lower())
    beside = _figures(row, columns, columns.change - 1) if change.sign and columns.change > 1 else []
    if len(beside) == 1 and beside[0].unit:
        whole = whole._replace(start=beside[0].start, after=beside[0], word=change.sign)
    return whole


_NAME = re.compile(r"[*_`]*\s(?P<name>[A-Za-z][\w-]*)")


def _each_named(text: str, row: Row, columns: Columns) -> list[Effect]:
    """`+111% semantic, +49% hybrid` in a column of gains: several signed percentages, each with the name of what it is of."""
    if columns.change is None or columns.change >= len(row) or not GAINING.search(columns.heads[columns.change]):
        return []
    cell = row[columns.change]
    found: list[Effect] = []
    for one in cell.quantities:
        name = _NAME.match(text, one.end, cell.end)
        of = [head for head in columns.heads if name and head.lower().startswith(name["name"].lower())]
        if one.kind is not Kind.PERCENT or one.sign not in _SENSES or name is None or len(of) != 1:
            return []
        found.append(
            Effect(one.start, name.end(), change=one, sense=_SENSES[one.sign], word=columns.heads[columns.change].lower(), heads=of[0])
        )
    return found


_OF_A_CHANGE = re.compile(r"reduction|savings?|improvement|speed(?:-?up)?|throughput|increase|gain", re.IGNORECASE)


def _achieved(row: Row, column: int) -> Effect | None:
    """A percentage or factor beside the goal for it, where the label of the row says that it is of a change."""
    change = next(iter(row[column].quantities), None) if column < len(row) else None
    label = _OF_A_CHANGE.search(row[0].words)
    if label is None or row[0].quantities or change is None or change.kind is Kind.VALUE:
        return None
    sense = Sense.FALL if _FALLS.search(row[0].words) else Sense.GAIN
    return Effect(change.start, change.end, change=change, sense=sense, word=label[0].lower())


def _words(row: Row, columns: Columns, effect: Effect) -> str:
    """What tells the metric: the row's labels, and the heads of the columns the effect stands in."""
    labels: list[str] = [row[0].words]
    inside: list[str] = []
    beside: tuple[str, ...] = ()
    for index, cell in enumerate(row):
        if effect.start < cell.end and cell.start < effect.end:
            inside += columns.heads[index : index + 1] if index != columns.change or not effect.is_pair else ()
        elif index and cell.end <= effect.start and not cell.quantities:
            labels.append(cell.words)
        elif index and cell.end <= effect.start and not columns.has_goals:
            beside = columns.heads[index : index + 1]  # of the last figure before it
    rate = ("per second",) if _rises_for_the_better(effect) else ()
    return " | ".join([*rate, *(() if effect.is_pair else beside), *labels, *inside, *filter(None, [effect.heads])])


_OF_SPEED = ("speed", "faster")


def _rises_for_the_better(effect: Effect) -> bool:
    """Whether bare figures rise by a speedup or fall where there is none: they are of a rate."""
    before, after, change = effect.before, effect.after, effect.change
    if before is None or after is None or change is None or before.unit or after.unit or not effect.word.startswith(_OF_SPEED):
        return False
    is_gain = change.low > 1 if change.kind is Kind.TIMES else effect.sense is Sense.GAIN
    return before.kind is Kind.VALUE and (after.low > before.low) is is_gain and after.low != before.low


def _rest(text: str, row: Row, effect: Effect) -> str:
    """What stands behind the effect in its cell."""
    cell = next((cell for cell in row if cell.start < effect.end <= cell.end), None)
    return text[effect.end : cell.end] if cell and not effect.is_pair else ""
