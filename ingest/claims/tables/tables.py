"""Tables: which columns hold the figure before, the figure after and the change; one row of one metric is one effect."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.claims.changes.effects import effects
from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind
from ingest.claims.tables.cells import Row, layout
from ingest.claims.tables.change_columns import beside_its_figure, change_alone, each_named, per_cell
from ingest.claims.tables.header_cells import BRANCH, Columns, by_heads, completed, proven, role_of, side_by_side
from ingest.claims.tables.rows import closed, each_against_first, pairs_by_heads
from ingest.claims.tables.transposed import transposed
from ingest.claims.words.change_words import Sense

_SIGNS = ("+", "-")
_OF_SETTINGS = re.compile(
    r"(?:[\w-]+ )?(?:settings?|config\w*|options?|parameters?|flags?|limits?|quotas?|env\w*|variables?)$", re.IGNORECASE
)
"""The head of the labels in a table of settings."""


def row_effects(text: str, start: int, end: int) -> Iterator[tuple[Effect, str, str]]:
    """The effects of the table's rows, with the words of row and heads that tell what each measures, and with the rest of its cell."""
    heads, rows = _labels_first(*layout(text, start, end))
    first = by_heads(heads)
    if _is_of_settings(heads, first):
        return
    is_of_sides = first.change is None or all(row[0].words.isalpha() for row in rows if row)  # no `Base size | 5 MB | 2 MB | 60%`
    if first.before is None and not first.after and is_of_sides and (sideways := list(transposed(heads, rows))):
        yield from ((effect, words, "") for effect, words in sideways)
        return
    several = side_by_side(heads)
    columns = several[0] if several else completed(first, rows)
    for row in rows:
        for effect in per_cell(text, start, heads, row) or _effects(text, row, columns):
            yield effect, _words(row, columns, effect), _rest(text, row, effect)
        for others in several[1:]:
            for effect in pairs_by_heads(row, others):
                yield effect, _words(row, others, effect), ""


def _labels_first(heads: Row, rows: list[Row]) -> tuple[Row, list[Row]]:
    """`before | after | ratio | benchmark`, as asv prints it: with the column of labels, which is the last one, ahead of the others."""
    if len(heads) < 3 or role_of(heads[0].words) != "before" or role_of(heads[1].words) != "after":
        return heads, rows
    return heads[-1:] + heads[:-1], [row[-1:] + row[:-1] for row in rows]


def _is_of_settings(heads: Row, columns: Columns) -> bool:
    """Whether the rows are settings, and not what was measured with them: `Config | Time | Speedup`, `Config | main | #12`."""
    is_measured = columns.change is not None or (columns.before is not None and BRANCH.search(heads[columns.before].words))
    return bool(heads) and not is_measured and _OF_SETTINGS.match(heads[0].words) is not None


def _effects(text: str, row: Row, columns: Columns) -> list[Effect]:
    inline = [effect for cell in row for effect in effects(text, list(cell.quantities), cell.start, cell.end)]
    if pairs := [effect for effect in inline if effect.is_pair]:
        whole = [_with_next_cell(text, effect, row) for effect in pairs]
        return [*_beside(pairs, row, columns), *whole, *_led_to(inline, whole)]
    if of_heads := each_against_first(text, row, columns) or pairs_by_heads(row, columns):
        return [] if _is_of_marks(row, of_heads) else of_heads
    alone = change_alone(row, columns)
    fills_its_cell = alone and columns.change is not None and row[columns.change].words in text[alone.start : alone.end]
    if effect := proven(row, columns) or (alone if fills_its_cell else None):
        return [] if _is_of_marks(row, [effect]) else [effect]
    if each := each_named(text, row, columns):
        return each
    if _is_of_changes(row):
        return [effect._replace(word="change") for effect in inline]
    said = [effect for effect in inline if effect.word not in _SIGNS]
    return said or ([alone] if alone else [beside_its_figure(text, effect, row) for effect in inline])


def _is_of_changes(row: Row) -> bool:
    """Whether several cells of the row hold a signed percentage, and none any other number: what they are of, label and head say."""
    told = [cell.quantities for cell in row[1:] if cell.quantities]
    return len(told) > 1 and all(len(found) == 1 and found[0].kind is Kind.PERCENT and found[0].sign for found in told)


_MARK, _BEST_MARK = re.compile(r"(?:.* )?(?:performance|accessib\w+|best practices|seo|pwa)$", re.IGNORECASE), 100


def _is_of_marks(row: Row, found: list[Effect]) -> bool:
    """Whether they are marks of an audit: whole numbers up to a hundred, of nothing but `Performance`."""
    figures = [figure for effect in found for figure in (effect.before, effect.after) if figure]
    are_marks = all(figure.unit is None and figure.low.is_integer() and figure.within(0, _BEST_MARK) for figure in figures)
    return bool(figures) and are_marks and _MARK.match(row[0].words) is not None


def _led_to(inline: list[Effect], pairs: list[Effect]) -> list[Effect]:
    """`+0.7 tok/s (+0.45%)` in a cell of its own, beside one that holds a pair."""
    figures = [effect for effect in inline if effect.after and effect.change and not effect.is_pair]
    return [effect for effect in figures if not any(pair.start < effect.end and effect.start < pair.end for pair in pairs)]


def _beside(pairs: list[Effect], row: Row, columns: Columns) -> list[Effect]:
    """The pairs of the columns before and after, where those that stand in single cells are of other columns."""
    figures = () if columns.is_learnt else ((pair, (pair.before, pair.after)) for pair in pairs_by_heads(row, columns))
    taken = [(pair.start, pair.end) for pair in pairs]
    return [pair for pair, both in figures if not any(low <= one.start < high for low, high in taken for one in both if one)]


def _with_next_cell(text: str, effect: Effect, row: Row) -> Effect:
    """A pair in a cell, with the change in the next cell."""
    following = next((cell for cell in row if cell.start > effect.end), None)
    stated = [change for change in following.quantities if change.kind is not Kind.VALUE] if following else []
    if not stated or not agrees(effect, stated[0]):
        return effect
    return effect._replace(end=closed(text, stated[0].end), change=stated[0])


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
    rate = ("per second",) if _rises_by_a_speedup(effect) else ()
    return " | ".join([*rate, *(() if effect.is_pair else beside), *labels, *inside, *filter(None, [effect.heads])])


_OF_SPEED = ("speed", "faster")


def _rises_by_a_speedup(effect: Effect) -> bool:
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
