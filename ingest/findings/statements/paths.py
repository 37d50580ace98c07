"""Whether a text is the path of a file. `torch.empty` and `np.float32` are not."""

from __future__ import annotations

import re
from functools import lru_cache

_ENDINGS = frozenset(
    "adoc astro bash bat c cc cfg cjs clj cls cmake conf cpp cs css csv cu cuh cxx dart diff el erl ex exs f90 fish fs go "  # noqa: SIM905 - a list reads worse
    "gradle graphql groovy h hbs hcl hh hpp hrl hs html hxx icns ini ino ipynb java jl js json jsonc jsonl jsx kt kts lean "
    "less lock log lua m md mdx mjs mk ml mm mod mts nim nix patch php pl plist png proto ps1 pxd py pyi pyx qml r rb rs "
    "rst s sass scala scss sh sol sql sum svelte svg swift tcl tex tf toml ts tsx txt v vue wgsl xml yaml yml zig zsh".split(" ")
)
"""Suffixes of files in projects. In other words a dot may join a module and its function."""

_NAMES = frozenset(
    ("dockerfile", "makefile", "justfile", "procfile", "license", "readme", ".env", ".gitignore", ".gitattributes", ".dockerignore")
)
_SHAPE = re.compile(r"[\w.@+~()\[\]/-]{1,300}")
_FILE = re.compile(r"[^/]{0,100}\.[A-Za-z]\w{0,9}")


@lru_cache(maxsize=4096)  # the runs of one repository name the same files
def is_path(text: str) -> bool:
    """Whether the text is the path of a folder (`src/x/`), or of a file: with folders and any suffix, or with a known suffix."""
    if not _SHAPE.fullmatch(text) or "//" in text:
        return False
    folder, _, name = text.rpartition("/")
    if name.rpartition(".")[2].lower() in _ENDINGS and "." in name:
        return True
    return name.lower() in _NAMES or (bool(folder) and (not name or is_file_name(name)))


def is_file_name(text: str) -> bool:
    """Whether the text has the form of a file name. Only for places where a file is meant."""
    return _FILE.fullmatch(text) is not None
