"""A table of LaTeX (package booktabs) for people, as Markdown is."""

from __future__ import annotations

import re

from app.text.answers import Answer
from app.text.columns import columns
from app.text.text_tables import for_people
from schemas.text import one_line, visible

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "×": r"$\times$", "≤": r"$\leq$", "≥": r"$\geq$", "≈": r"$\approx$", "–": "--",
    "−": "$-$", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "·": r"$\cdot$", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip
_MARKUP = re.compile("|".join(map(re.escape, _SPECIAL)))


def write_latex(answer: Answer) -> bytes:
    """The answer as a `table` with its heading, without the store, and note for a caption."""
    table = for_people(answer)
    shown = columns(table, answer.of)
    lines = [[f"{column.cell(row)}{f' ({column.note(row)})' if column.note(row) else ''}" for column in shown] for row in table.to_pylist()]
    body = [" & ".join(map(_escaped, line)) + r" \\" for line in lines]
    head = " & ".join(_escaped(column.label) for column in shown) + r" \\"
    about = answer.heading.rpartition(" · ")[0]  # without the place of the store, which is nobody's business in a paper
    caption = _escaped(" ".join(filter(None, (f"{about}.", answer.note))))
    align = "".join("r" if column.is_figure else "l" for column in shown)
    made = (
        r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", rf"\begin{{tabular}}{{{align}}}", r"\toprule", head, r"\midrule", *body,
        r"\bottomrule", r"\end{tabular}", r"\end{table}",
    )  # fmt: skip
    return ("\n".join(made) + "\n").encode()


def _escaped(text: str) -> str:
    return _MARKUP.sub(lambda found: _SPECIAL[found[0]], one_line(visible(text)))
