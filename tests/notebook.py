"""The notebook of the docs: its cells, and the outputs that they have.

`python -m tests.notebook --write` runs it and writes them anew.

Cells run in one namespace in this process, without a Jupyter kernel: that needs neither ipykernel
nor a socket, and what Jupyter would show of a value is the value's own `_repr_html_`, else its
`repr`.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.python_blocks import run_node

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "docs" / "tachograph.ipynb"

Outputs = list[dict[str, Any]]


def cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(notebook: dict[str, Any], folder: Path) -> list[Outputs]:
    """The outputs of each cell of code, run in a folder that has the sample logs."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        return [
            _run("".join(cell["source"]), namespace, number)
            for number, cell in enumerate(cells(notebook), 1)
        ]


def _run(code: str, namespace: dict[str, Any], number: int) -> Outputs:
    value = None
    for node in ast.parse(code).body:
        value = run_node(node, namespace)
    return (
        []
        if value is None
        else [
            {
                "output_type": "execute_result",
                "execution_count": number,
                "metadata": {},
                "data": _shown(value),
            }
        ]
    )


def _shown(value: Any) -> dict[str, Any]:
    html = getattr(value, "_repr_html_", lambda: None)()
    shown = {"text/plain": _lines(repr(value))}
    return {"text/html": _lines(html)} | shown if html else shown


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    """Run the notebook and, with --write, put its outputs into it."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "sample_logs", Path(folder) / "sample_logs")
        made = run(notebook, Path(folder))
    for number, (cell, outputs) in enumerate(zip(cells(notebook), made, strict=True), 1):
        cell |= {"outputs": outputs, "execution_count": number}
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    if "--write" in sys.argv:
        NOTEBOOK.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    os.environ.pop("TACHOGRAPH_DB", None)
    main()
