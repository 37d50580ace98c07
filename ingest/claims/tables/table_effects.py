"""The effects of a table. One row of one metric is one effect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect, ReadingRule, first_result
from ingest.claims.numbers.quantities import Kind
from ingest.claims.patterns import pattern
from ingest.claims.prose import prose_effects
from ingest.claims.tables.cells import Row, header_and_rows, with_unit
from ingest.claims.tables.header_cells import (
    BASE_BRANCH,
    OF_REAL_TIME,
    Columns,
    columns_by_headers,
    completed_by_row,
    names_a_candidate,
    paired_columns,
    proven_pair,
    role_of,
    with_filled_change,
    with_signs_of,
)
from ingest.claims.tables.rows import (
    captioned_gains,
    cells_with_own_change,
    change_without_figures,
    end_of_bracket,
    named_changes,
    pairs_by_headers,
    with_candidate_figure,
    with_figures_of_series,
)
from ingest.claims.words.vocabulary import BARE_FACTOR, Sense

_MEAN = pattern(r"mean|avg|average|median", re.IGNORECASE)
_SPREAD = pattern(r"min|max|σ|std|range|relative|samples|runs", re.IGNORECASE)
"""Columns with statistics of spread: beside a mean, no effects of their metric."""


def transposed_effects(headers: Row, rows: list[Row]) -> Iterator[tuple[Effect, str]]:
    """The effects of a transposed table, with their labels: baseline and candidate are rows, not columns.

    `| Before | 8 s | 40 MB |` above `| After | 2 s | 10 MB |`, and maybe a row of changes.
    """
    roles = _roles_of_rows(rows)
    for index, role in enumerate(roles[1:], 1):
        changes = rows[index + 1] if roles[index + 1 : index + 2] == ["change"] else ()
        if role == "after" and roles[index - 1] == "before":
            yield from _column_pairs(headers, rows[index - 1], rows[index], changes)
        elif role == "before" and roles == ["after", "before", *roles[2:]] and set(roles[2:]) <= {"change"}:
            yield from _column_pairs(headers, rows[index], rows[index - 1], changes)
        elif role == "change" and index > 1 and roles[index - 2 : index] == [None, None]:
            yield from _pairs_above_changes(headers, *rows[index - 2 : index + 1])


def _roles_of_rows(rows: list[Row]) -> list[str | None]:
    """What the labels of the rows name; `Current` is the candidate beside `Previous`."""
    labels = [row[0].words if row else "" for row in rows]
    roles = [role_of(label) for label in labels]
    is_also_candidate = [role == "before" and names_a_candidate(label) for role, label in zip(roles, labels, strict=True)]
    if not any(role == "before" and not ambiguous for role, ambiguous in zip(roles, is_also_candidate, strict=True)):
        return roles
    return ["after" if ambiguous else role for role, ambiguous in zip(roles, is_also_candidate, strict=True)]


def _pairs_above_changes(headers: Row, first: Row, second: Row, changes: Row) -> Iterator[tuple[Effect, str]]:
    """The pairs of two rows with any names, if each change of the row below them agrees: `Graph`, `Eager`, `Delta`.

    The sign of a change says which row is the baseline.
    """
    found = list(_column_pairs(headers, first, second, changes))
    stated = [cell for cell in changes[1:] if any(one.kind is not Kind.VALUE for one in cell.quantities)]
    pairs = [(pair, words) for pair, words in found if pair.change]
    if not pairs or len(pairs) < len(stated):
        return
    for pair, words in pairs:
        assert pair.before
        assert pair.after
        assert pair.change
        falls = pair.after.scaled() < pair.before.scaled()
        is_in_order = not pair.change.sign or falls is (pair.change.sign == "-")
        yield pair if is_in_order else pair._replace(before=pair.after, after=pair.before), words


def _column_pairs(headers: Row, before: Row, after: Row, changes: Row) -> Iterator[tuple[Effect, str]]:
    """The pairs of two rows of a transposed table, column by column, each with row label and header cell."""
    has_mean = any(_MEAN.match(header.words) for header in headers)
    for column in range(1, min(len(before), len(after))):
        if has_mean and column < len(headers) and _SPREAD.match(headers[column].words):
            continue
        header = headers[column].words if column < len(headers) else ""
        if not before[column].figures or not after[column].figures or role_of(header) == "change":
            continue
        first, second = (with_unit(row[column].figures[0], header, row[0].words) for row in (before, after))
        if not first.kind is second.kind is Kind.VALUE or first.metric is not second.metric:
            continue
        pair = Effect(first.start, second.end, first, second)
        stated = changes[column].quantities if column < len(changes) else ()
        change = next((change for change in stated if change.kind is not Kind.VALUE and agrees(pair, change)), None)
        yield pair._replace(end=change.end, change=change) if change else pair, f"{before[0].words} | {header}"


_SIGNS = ("+", "-")
_SETTINGS_HEADER = pattern(
    r"(?:[\w-]+ )?(?:settings?|config\w*|options?|parameters?|flags?|limits?|quotas?|env\w*|variables?)$", re.IGNORECASE
)
"""The header cell above the row labels in a table of settings."""


def _without_doubles(effects: Iterable[Effect]) -> Iterator[Effect]:
    """The effects of a row; of several changes that compare the same two figures, as against the step before and the first, only one."""
    seen: set[tuple[int, int]] = set()
    for effect in effects:
        figures = (effect.before.start, effect.after.start) if effect.before and effect.after else None
        if figures is None or figures not in seen:
            yield effect
        if figures:
            seen.add(figures)


_NAMES_A_SIDE = pattern(r"[^\W\d_]+(?: ?\([^()]*\))?$")
"""`Before`, `After (with the cache)`, not `Base size` in `Base size | 5 MB | 2 MB | 60%`."""


def table_effects(text: str, start: int, end: int) -> Iterator[tuple[Effect, str, str]]:
    """The effects of the table between `start` and `end`, each with its row label and header cells, and the rest of its cell."""
    headers, rows = _with_labels_first(*header_and_rows(text, start, end))
    first = with_filled_change(columns_by_headers(headers), rows)
    if _is_table_of_settings(headers, first):
        return
    is_of_sides = first.change is None or all(_NAMES_A_SIDE.match(row[0].words) for row in rows if row)
    if first.before is None and not first.after and is_of_sides and (sideways := list(transposed_effects(headers, rows))):
        yield from ((effect, words, "") for effect, words in sideways)
        return
    several = paired_columns(headers)
    columns = several[0] if several else with_signs_of(completed_by_row(first, rows), rows)
    for index, row in enumerate(rows):
        found = captioned_gains(text, start, headers, row) or _row_effects(text, row, columns)
        for effect in _without_doubles(with_figures_of_series(one, rows[:index], row, columns) for one in found):
            yield effect, _words_for_metric(row, columns, effect), _rest_of_cell(text, row, effect)
        for others in several[1:]:
            for pair in pairs_by_headers(row, others):
                yield pair, _words_for_metric(row, others, pair), ""


def _with_labels_first(headers: Row, rows: list[Row]) -> tuple[Row, list[Row]]:
    """The table with its last column first, if that has the labels: `before | after | ratio | benchmark`, as asv prints it."""
    if len(headers) < 3 or role_of(headers[0].words) != "before" or role_of(headers[1].words) != "after":
        return headers, rows
    return headers[-1:] + headers[:-1], [row[-1:] + row[:-1] for row in rows]


def _is_table_of_settings(headers: Row, columns: Columns) -> bool:
    """Whether the rows are settings, `Setting | Before | After`; not so measurements by setting, `Config | Time | Speedup`."""
    if not headers or not _SETTINGS_HEADER.match(headers[0].words) or columns.change is not None:
        return False
    of_branch = columns.before is not None and BASE_BRANCH.search(headers[columns.before].words)
    return not of_branch and not any(_STATISTIC.fullmatch(header.words) for header in headers[1:])


_STATISTIC = pattern(r"p\d\d(?:\.?9)?|mean|median|latency|throughput", re.IGNORECASE)
"""`Config | p50 | p99`: measurements by configuration."""


class TableRow(NamedTuple):
    """A row with the roles of its columns, and `inline`, the effects within single cells."""

    text: str
    cells: Row
    columns: Columns
    inline: list[Effect]

    @property
    def has_pairs(self) -> bool:
        """Whether a single cell has a pair."""
        return any(effect.is_pair for effect in self.inline)


def _row_effects(text: str, cells: Row, columns: Columns) -> list[Effect]:
    """The effects of a row by the first rule that applies; none for scores of an audit."""
    headers = columns.headers
    told = [cell for index, cell in enumerate(cells) if not OF_REAL_TIME.search(headers[index] if index < len(headers) else "")]
    inline = [effect for cell in told for effect in prose_effects(text, list(cell.quantities), cell.start, cell.end)]
    if sum(quantity.kind is Kind.PERCENT for cell in cells for quantity in cell.quantities) > 1:  # `| Index usage | 20% | 95% | 4.75x |`
        inline = [effect for effect in inline if effect.word != BARE_FACTOR]
    row = TableRow(text, cells, columns, inline)
    found = first_result(RULES, row) or []
    return [] if not row.has_pairs and _are_audit_scores(cells, found) else found


def _pairs_within_cells(row: TableRow) -> list[Effect]:
    """`| 6,802 → 3,401 | −50% |`: the pairs within single cells, with changes and pairs of other columns."""
    pairs = [effect for effect in row.inline if effect.is_pair]
    whole = [_with_next_cell(row.text, effect, row.cells) for effect in pairs]
    return [*_pairs_of_other_columns(pairs, row.cells, row.columns), *whole, *_figures_with_change(row.inline, whole)] if pairs else []


_BOTH_SIDES = pattern(
    r"\b(?:before|old|main|baseline|base)\s?(?:/|→|->|vs\.?)\s?(?:after|new|branch|candidate|optimi[sz]ed|head)\b", re.IGNORECASE
)
_SLASH = pattern(r"[\s*_`]*/[\s*_`]*")


def _both_sides_in_one_cell(row: TableRow) -> list[Effect]:
    """`| load | 30 / 10 |` below `Case | Time before/after (ms)`: the two figures of each such cell."""
    found = []
    for header, cell in zip(row.columns.headers, row.cells, strict=False):
        if len(cell.figures) == 2 and _BOTH_SIDES.search(header):
            before, after = (with_unit(figure, header) for figure in cell.figures)
            if _SLASH.fullmatch(row.text, before.end, after.start) and before.has_metric_of(after):
                found.append(Effect(before.start, after.end, before, after))
    return found


def _change_filling_its_cell(row: TableRow) -> list[Effect]:
    """The change of the change column, if its cell has nothing else: `| load | 30% less memory | 3x |` below `Case | Notes | Speedup`."""
    alone, column = change_without_figures(row.cells, row.columns), row.columns.change
    is_full = alone and column is not None and row.cells[column].words in row.text[alone.start : alone.end]
    return [alone] if alone and is_full else []


def _signed_percentages_only(row: TableRow) -> list[Effect]:
    """`| latency | -50% | -20% |`: each signed percentage is a change."""
    return [effect._replace(word="change") for effect in row.inline] if _holds_only_changes(row.cells) else []


RULES: tuple[ReadingRule[TableRow, list[Effect]], ...] = (
    ReadingRule(
        "both sides in one cell",
        _both_sides_in_one_cell,
        "| Case | Time before/after (ms) | Draw calls |\n|---|---|---|\n| load | 30 / 10 | 4 |",
        "time 3",
    ),
    ReadingRule(
        "pairs within cells",
        _pairs_within_cells,
        "| Item | Change | Δ tokens |\n|---|---|---|\n| a | 6,802 → 3,401 | −3,401 (−50%) |",
        "tokens 2",
    ),
    ReadingRule(
        "each against the baseline",
        lambda row: cells_with_own_change(row.text, row.cells, row.columns),
        "| Case | Baseline | Warm | Cold |\n|---|---|---|---|\n| load | 24 s | 2 s (12x faster) | 6 s (4x faster) |",
        "time 12",
    ),
    ReadingRule(
        "baseline and candidate columns",
        lambda row: pairs_by_headers(row.cells, row.columns),
        "| Case | Before | After |\n|---|---|---|\n| load | 30 s | 10 s |",
        "time 3",
    ),
    ReadingRule(
        "figures proven by their change",
        lambda row: [found] if (found := proven_pair(row.cells, row.columns)) else None,
        "| conns | copy rps | splice rps |  |\n|---|---|---|---|\n| 1 | 2,000 | 4,000 | 2.0x |",
        "throughput 2",
    ),
    ReadingRule(
        "change that fills its cell",
        _change_filling_its_cell,
        "| Case | Notes | Speedup |\n|---|---|---|\n| load | 30% less memory | 3x |",
        "time 3",
    ),
    ReadingRule(
        "named changes",
        lambda row: named_changes(row.text, row.cells, row.columns),
        "| Case | semantic | hybrid | Speedup |\n|---|---|---|---|\n| query time | a | b | +111% semantic, +49% hybrid |",
        "time 2.11",
    ),
    ReadingRule(
        "signed percentages only", _signed_percentages_only, "| Case | Linux | Mac |\n|---|---|---|\n| latency | -50% | -20% |", "time 2"
    ),
    ReadingRule(
        "changes in words",
        lambda row: [effect for effect in row.inline if effect.word not in _SIGNS],
        "| step | Gain |\n|---|---|\n| batching | 20% reduction in overhead |",
        "time 1.25",
    ),
    ReadingRule(
        "column of changes",
        lambda row: [alone] if (alone := change_without_figures(row.cells, row.columns)) else None,
        "| Metric | Goal | Achieved |\n|---|---|---|\n| Copy reduction | 40% | ~50% (pool) |",
        "operations 2",
    ),
    ReadingRule(
        "change behind its figure",
        lambda row: [with_candidate_figure(row.text, effect, row.cells) for effect in row.inline],
        "| Case | Size |\n|---|---|\n| bundle | 26.1 KB (-20%) |",
        "size 1.25",
    ),
)
"""The rules for a row, in the order in which they are tried."""


def _holds_only_changes(row: Row) -> bool:
    """Whether several cells have a signed percentage, and none any other number: `| latency | -50% | -20% |`."""
    cells = [cell.quantities for cell in row[1:] if cell.quantities]
    return len(cells) > 1 and all(len(found) == 1 and found[0].kind is Kind.PERCENT and found[0].sign for found in cells)


_AUDIT_ROW, _BEST_SCORE = pattern(r"(?:.* )?(?:performance|accessib\w+|best practices|seo|pwa)$", re.IGNORECASE), 100


def _are_audit_scores(row: Row, found: list[Effect]) -> bool:
    """Whether they are scores of a web audit: integers from 0 to 100 in a row labelled `Performance`."""
    figures = [figure for effect in found for figure in (effect.before, effect.after) if figure]
    are_marks = all(figure.unit is None and figure.low.is_integer() and figure.within(0, _BEST_SCORE) for figure in figures)
    return bool(figures) and are_marks and _AUDIT_ROW.match(row[0].words) is not None


def _figures_with_change(inline: list[Effect], pairs: list[Effect]) -> list[Effect]:
    """The figures with a change in brackets, `+0.7 tok/s (+0.45%)`, outside the cells with pairs."""
    figures = [effect for effect in inline if effect.after and effect.change and not effect.is_pair]
    return [effect for effect in figures if not any(pair.start < effect.end and effect.start < pair.end for pair in pairs)]


def _pairs_of_other_columns(pairs: list[Effect], row: Row, columns: Columns) -> list[Effect]:
    """The pairs of baseline and candidate column that do not overlap the pairs within single cells; of inferred columns a proven one."""
    proven = proven_pair(row, columns) if columns.is_inferred else None
    found = ([proven] if proven else []) if columns.is_inferred else pairs_by_headers(row, columns)
    figures = ((pair, (pair.before, pair.after)) for pair in found)
    taken = [(pair.start, pair.end) for pair in pairs]
    return [pair for pair, both in figures if not any(low <= one.start < high for low, high in taken for one in both if one)]


def _with_next_cell(text: str, effect: Effect, row: Row) -> Effect:
    """A pair within a cell with the change in the next cell, if they agree: `| 4 s → 2 s | -50% |`."""
    following = next((cell for cell in row if cell.start > effect.end), None)
    stated = [change for change in following.quantities if change.kind is not Kind.VALUE] if following else []
    if not stated or not agrees(effect, stated[0]):
        return effect
    return effect._replace(end=end_of_bracket(text, stated[0].end), change=stated[0])


def _words_for_metric(row: Row, columns: Columns, effect: Effect) -> str:
    """The words around the effect that can name its metric: row labels and header cells, separated by bars."""
    labels: list[str] = [row[0].words]
    inside: list[str] = []
    beside: tuple[str, ...] = ()
    for index, cell in enumerate(row):
        if effect.start < cell.end and cell.start < effect.end:
            inside += columns.headers[index : index + 1] if index != columns.change or not effect.is_pair else ()
        elif index and cell.end <= effect.start and not cell.quantities:
            labels.append(cell.words)
        elif index and cell.end <= effect.start and not columns.has_goals:
            beside = columns.headers[index : index + 1]  # the header cell of the last figure before the effect
    rate = ("per second",) if _is_rate_by_speedup(effect) else ()
    return " | ".join([*rate, *(() if effect.is_pair else beside), *labels, *inside, *filter(None, [effect.labels])])


_OF_SPEED = ("speed", "faster")


def _is_rate_by_speedup(effect: Effect) -> bool:
    """Whether bare numbers are a rate: they rise beside a speedup above 1, `| 2,000 | 4,000 | 2x |`, or fall beside one below 1."""
    before, after, change = effect.before, effect.after, effect.change
    if before is None or after is None or change is None or before.unit or after.unit or not effect.word.startswith(_OF_SPEED):
        return False
    is_gain = change.low > 1 if change.kind is Kind.TIMES else effect.sense is Sense.GAIN
    return before.kind is Kind.VALUE and (after.low > before.low) is is_gain and after.low != before.low


def _rest_of_cell(text: str, row: Row, effect: Effect) -> str:
    """The text behind the effect in its cell; empty for a pair."""
    cell = next((cell for cell in row if cell.start < effect.end <= cell.end), None)
    return text[effect.end : cell.end] if cell and not effect.is_pair else ""
