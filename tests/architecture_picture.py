"""The folders of the project and which of them imports which, from the code.

And the picture of that in docs/architecture.md.

`python -m tests.architecture_picture` prints the picture, `--write` puts it into the page.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "architecture.md"
ROOMS = ("app", "ingest", "schemas")
Edge = tuple[str, str]

UPWARD: Mapping[Edge, str] = {}
"""Imports against the direction of the picture, with their reason. None is added without one."""

COMMON = ("schemas/errors", "schemas/numbers", "schemas/text", "schemas/units")
"""Files that all may import, and that the picture leaves out."""

_PICTURE = re.compile(r"(?<=```mermaid\n).*?(?=```)", re.DOTALL)


def folder_of(module: str) -> str:
    """The folder of a module, `app/cli` of `app.cli.answers`; a file of a room itself stands alone.

    `ingest/pipeline`.
    """
    return "/".join(module.split(".")[:2])


@cache
def imports(path: Path) -> tuple[str, ...]:
    """The modules that a file imports, `from package import module` included."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in _statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = str(node.module)
            yield from (
                (f"{module}.{name.name}" for name in node.names) if module in ROOMS else (module,)
            )


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements below a node, in a fifth of `ast.walk`'s time.

    `ast.walk` visits expressions too.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            yield from _statements(child)


@cache
def edges() -> set[Edge]:
    """(importer, imported): every pair of folders, imports inside functions included."""
    found = set()
    for path in sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        importer = folder_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
        found |= {
            (importer, folder_of(name)) for name in imports(path) if name.split(".")[0] in ROOMS
        }
    return {(importer, imported) for importer, imported in found if importer != imported}


def ranked(edges: set[Edge]) -> list[str]:
    """The folders, each after those it imports. Raises graphlib.CycleError."""
    below: dict[str, list[str]] = {}
    for importer, imported in sorted(edges):
        below.setdefault(importer, []).append(imported)
    return list(TopologicalSorter(below).static_order())


def reduced(edges: set[Edge]) -> set[Edge]:
    """The edges that do not follow from others.

    Where a imports b, and b imports c, an arrow from a to c is left out.
    """
    reach: dict[str, set[str]] = {}
    for folder in ranked(edges):
        direct = {imported for importer, imported in edges if importer == folder}
        reach[folder] = direct.union(*(reach[imported] for imported in direct))
    return {
        (importer, imported)
        for importer, imported in edges
        if not any(
            imported in reach[between]
            for one, between in edges
            if one == importer and between != imported
        )
    }


def picture() -> str:
    """The folders and the arrows between them in the language of Mermaid.

    One line per folder, the top first.
    """
    drawn = {edge for edge in edges() - UPWARD.keys() if edge[1] not in COMMON}
    order, arrows = list(reversed(ranked(drawn))), reduced(drawn)
    lines = ["flowchart TD"]
    for room in ROOMS:
        lines.append(f"  subgraph {room}")
        lines += [
            f"    {_id(folder)}[{_name(folder)}]"
            for folder in order
            if folder.startswith(f"{room}/")
        ]
        lines.append("  end")
    for folder in order:
        if below := [_id(imported) for imported in order if (folder, imported) in arrows]:
            lines.append(f"  {_id(folder)} --> {' & '.join(below)}")
    return "\n".join(lines) + "\n"


def _id(folder: str) -> str:
    return folder.replace("/", "_")


def _name(folder: str) -> str:
    name = folder.partition("/")[2]
    return f"{name}.py" if (ROOT / f"{folder}.py").exists() else name


def main() -> None:
    """Print the picture or write it into the page."""
    if "--write" in sys.argv:
        PAGE.write_text(_PICTURE.sub(lambda _: picture(), PAGE.read_text(), count=1))
    else:
        sys.stdout.write(picture())


if __name__ == "__main__":
    main()
