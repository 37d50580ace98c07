"""Python that is written down.

Blocks of a page and cells of a notebook, run one after the other in one namespace.
"""

from __future__ import annotations

import ast
from typing import Any

ARROW = "# → "
"""What stands behind it is the value of the expression before it: as `str` gives it, line ends as
`\\n`.
"""


def run_block(code: str, namespace: dict[str, Any]) -> list[tuple[str, str]]:
    """Run the code. (value, what is written) for each expression whose last line has an ARROW."""
    lines, compared = code.splitlines(), list[tuple[str, str]]()
    for node in ast.parse(code).body:
        value = run_node(node, namespace)
        _, arrow, written = lines[(node.end_lineno or 0) - 1].partition(ARROW)
        if arrow:
            compared.append((str(value).replace("\n", "\\n"), written.strip()))
    return compared


def run_node(node: ast.stmt, namespace: dict[str, Any]) -> Any:
    """Run one statement. The value, where it is an expression."""
    if isinstance(node, ast.Expr):
        return eval(compile(ast.Expression(node.value), "<written down>", "eval"), namespace)
    exec(compile(ast.Module([node], []), "<written down>", "exec"), namespace)
    return None
