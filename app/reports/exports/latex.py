"""Answers as tables of LaTeX: booktabs, and longtable for what a page cannot hold.

A table is as wide as the text of a usual page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, product

from app.text.answers import Answer
from app.text.columns import PivotedColumn
from app.text.table import Column
from app.text.text_tables import Laid, broken, chosen_widths, shown_table
from schemas.text import one_line, visible

SIZES = {"footnotesize": 80, "scriptsize": 88}
"""Sizes of text → characters that fit beside each other on a page of LaTeX's class `article`."""

PAGE_LINES = 45
"""Lines of a table on such a page with its caption."""

LONGEST_TEXT = 40
"""Characters of the longest cell in a column of texts that is not important: more would be prose.
"""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "–": "--",
    "−": "$-$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "·": r"$\cdot$",
    "±": r"$\pm$",
    "÷": r"$\div$",
    "→": r"$\rightarrow$",
    "…": r"\ldots{}",
    "—": "---",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "¢": r"\textcent{}",
    "\u00a0": "~",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_LETTERS = frozenset(map(chr, range(0xC0, 0x100))) - set("ÐÞðþ")
"""Letters besides those of ASCII that every font of LaTeX has."""
_LATEX_MARKUP = re.compile("|".join(map(re.escape, _SPECIAL)))


def latex_table(answer: Answer) -> bytes:
    """Return the answer as a table that floats, or over several pages.

    Its caption is the heading without the store, and the note.

    Columns that do not fit on a page are left out, the least important first; a comment names them.
    What n of a figure is in brackets.
    """
    table = shown_table(answer)
    shown, rows = table.columns, table.cells
    if table.is_one_row_of_figures:
        body = [
            f"{_latex(one.label)} & {_latex(cell.in_brackets)}"
            for one, cell in zip(shown, rows[0], strict=True)
        ]
        return _written(answer, "footnotesize", "lr", [], body, len(body))
    is_tiered = any(
        len(group) > 1 for name, group in _groups(shown) if name
    )  # the value of the pivot is above its figures
    heads = [
        one.figure.header if is_tiered and isinstance(one, PivotedColumn) else one.header
        for one in shown
    ]
    for size, noted in product(SIZES, ("{} ({})", "{}\n({})")):
        laid = [
            Laid(one, cells, noted, head)
            for one, head, *cells in zip(shown, heads, *rows, strict=True)
        ]
        short = [
            one
            for one in laid
            if one.column.is_figure
            or one.wanted <= LONGEST_TEXT
            or one.name in (shown[0].name, *answer.kept)
        ]
        widths = chosen_widths(short, SIZES[size], answer.kept)
        if len(widths) == len(short):
            break
    fitting = [one for one in short if one.name in widths]
    align = ["r" if one.column.is_figure else "l" for one in fitting]
    head = []
    if is_tiered:
        place, above, rules = 1, [], []
        for name, group in _groups([one.column for one in fitting]):
            above.append(rf"\multicolumn{{{len(group)}}}{{c}}{{{_latex(name)}}}")
            rules += [rf"\cmidrule(lr){{{place}-{place + len(group) - 1}}}"] if name else []
            place += len(group)
        head = [" & ".join(above) + r" \\ " + "".join(rules)]
    labels = (
        _stacked(broken(one.label, widths[one.name]).split("\n"), side, "b")
        for one, side in zip(fitting, align, strict=True)
    )
    head.append(" & ".join(labels) + r" \\")
    body, lines = [], 0
    for number in range(len(rows)):
        cells = [
            [*value.split("\n"), *filter(None, [note])]
            for value, note in (one.lines(number, widths[one.name]) for one in fitting)
        ]
        body.append(
            " & ".join(_stacked(cell, side, "t") for cell, side in zip(cells, align, strict=True))
        )
        lines += max(map(len, cells))
    left_out = [one.label for one in shown if one.name not in widths]
    return _written(answer, size, "".join(align), head, body, lines, left_out)


def _groups(shown: Sequence[Column]) -> list[tuple[str, list[Column]]]:
    """Return the columns by the value that they are pivoted by, "" for others."""
    found = groupby(shown, key=lambda one: one.group if isinstance(one, PivotedColumn) else "")
    return [(name, list(group)) for name, group in found]


def _written(
    answer: Answer,
    size: str,
    align: str,
    head: Sequence[str],
    body: Sequence[str],
    lines: int,
    left_out: Sequence[str] = (),
) -> bytes:
    about = answer.heading.rpartition(" · ")[
        0
    ]  # without the place of the store, which is nobody's business in a paper
    caption = rf"\caption{{{_latex(' '.join(filter(None, (about and f'{about}.', answer.note))))}}}"
    ended = [rf"{line} \\" for line in body]
    if answer.total is not None and len(body) > 1:
        ended.insert(-1, r"\midrule")
    above = [r"\toprule", *head, *([r"\midrule"] if head else [])]
    made = (
        [f"% Left out, because the page is full: {one_line(visible(', '.join(left_out)))}."]
        if left_out
        else []
    )
    small = rf"\{size}\setlength{{\tabcolsep}}{{3pt}}\setlength{{\belowcaptionskip}}{{4pt}}"
    if lines > PAGE_LINES:
        made += [
            f"{{{small}",
            rf"\begin{{longtable}}{{@{{}}{align}@{{}}}}",
            rf"{caption} \\",
            *above,
            r"\endfirsthead",
        ]
        made += [*above, r"\endhead", r"\bottomrule", r"\endfoot", *ended, r"\end{longtable}", "}"]
    else:
        made += [
            r"\begin{table}",
            rf"\centering{small}",
            caption,
            rf"\begin{{tabular}}{{@{{}}{align}@{{}}}}",
            *above,
        ]
        made += [*ended, r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return ("\n".join(made) + "\n").encode()


def _stacked(lines: Sequence[str], side: str, where: str) -> str:
    """Return the lines of a cell above each other."""
    text = r" \\ ".join(map(_latex, lines))
    return (
        text
        if len(lines) == 1
        else rf"\begin{{tabular}}[{where}]{{@{{}}{side}@{{}}}}{text}\end{{tabular}}"
    )


def _latex(text: str) -> str:
    """Return the text as pdfLaTeX reads it.

    A character that its fonts lack is written as its code: it would end the run.
    """
    found = _LATEX_MARKUP.sub(lambda found: _SPECIAL[found[0]], one_line(visible(text)))
    return "".join(
        one if one.isascii() or one in _LETTERS else rf"\texttt{{U+{ord(one):04X}}}"
        for one in found
    )
