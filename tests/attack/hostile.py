"""Text that deceives or commands, for every text field of a run, and how to detect it.

Detecting means seeing whether some of it got through.
"""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path

from ingest.store.database import Store
from tests.conftest import ingest_paths, record

HOSTILE = frozenset(
    map(
        chr,
        (
            *(code for code in range(0x20) if chr(code) not in "\t\n\r"),
            *range(0x7F, 0xA0),
            *(0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF),
            *range(0x202A, 0x202F),
            *range(0x2060, 0x2070),
            *range(0xFFF9, 0xFFFC),
            *range(0xD800, 0xE000),
            *range(0xE0000, 0xE0080),
        ),
    )
)
"""Written down by hand and not taken from the program."""

NASTY = "a\x1b[31m\x07\x9b2J\u202eb\u2066c\u200bd\x00e\ud800f\udfff\U000e0041\u2028\x85g\rh\ufeff"
"""One of each kind, with halves of surrogate pairs in the wrong order, on two lines to those who
take U+2028 for an end of one.
"""

KEPT = (
    "👨\u200d👩\u200d👧 ❤️\u200d🔥 \u0645\u06cc\u200c\u062e\u0648 "
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
)
"""Joiners and tags that are needed: families, a word of Persian, the flag of England."""


def found_in(text: str) -> set[str]:
    """Which hostile characters are in a text, as escapes.

    A joiner is one too, between the letters used here.
    """
    return {ascii(one) for one in text if one in HOSTILE}


def nasty_record(number: int, **changes: object) -> dict[str, object]:
    """A result record with hostile text wherever one may stand."""
    nasty = f"{NASTY}{number}"
    [usage] = record()["modelUsage"].values()
    return record(
        uuid=nasty,
        session_id=nasty,
        result=(
            f"# {nasty}\n\nDecode is 2.5x faster (10 ms → 4 ms) `{nasty}`\n\n| a | b "
            f"|\n|---|---|\n| {nasty} | 3x |\n\n- {nasty}.py: +3"
        ),
        subtype=["success", nasty][number % 2],
        stop_reason=nasty,
        terminal_reason=nasty,
        errors=[nasty, {nasty: nasty}],
        permission_denials=[{"tool_name": nasty}],
        modelUsage={
            nasty: usage | {"provider": nasty, "canonicalModel": nasty, "costBasis": "unknown"},
            "claude-opus-4-6": usage,
        },
        total_cost_usd=0.5,
        **{nasty: {nasty: nasty}, **changes},
    )


def nasty_stream(number: int) -> bytes:
    """The same as the end of a stream with tools, a title and a working directory."""
    nasty = f"{NASTY}{number}"
    init = {
        "type": "system",
        "subtype": "init",
        "session_id": nasty,
        "cwd": nasty,
        "model": nasty,
        "tools": [nasty],
        "permissionMode": nasty,
    }
    use = {"type": "tool_use", "id": nasty, "name": nasty, "input": {}}
    said = {
        "type": "assistant",
        "session_id": nasty,
        "message": {"role": "assistant", "model": nasty, "content": [use]},
    }
    events = [init | {"claude_code_version": nasty}, said, nasty_record(number)]
    return "\n".join(json.dumps(event) for event in events).encode()


def nasty_files(folder: Path) -> list[Path]:
    """Streams, a wrapper, a broken record and archives, all under hostile names."""
    name = "a\x1b[31m\u202e\u200b\x9b"
    folder.mkdir()
    (folder / f"{name}1.jsonl").write_bytes(nasty_stream(1))
    (folder / f"{name}2.json").write_text(json.dumps({NASTY: {"log": json.dumps(nasty_record(2))}}))
    (folder / f"{name}3.json").write_text(
        json.dumps(nasty_record(3), ensure_ascii=False), "utf-8", "surrogatepass"
    )
    (folder / f"{name}4.json").write_text(json.dumps(nasty_record(4, num_turns=NASTY)))
    (folder / f"{name}5.json").write_text(json.dumps(nasty_record(5))[:-40])
    (Path(f"{folder}/").joinpath("no utf-8 \udcff.json")).write_text(json.dumps(nasty_record(6)))
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
        archive.writestr(f"{name}\u2067.json", json.dumps(nasty_record(7)))
    with tarfile.open(folder / f"{name}.tar", "w") as tar:
        body = json.dumps(nasty_record(8)).encode()
        member = tarfile.TarInfo(f"{name}\udcff\n.json")
        member.size = len(body)
        tar.addfile(member, io.BytesIO(body))
    return [folder]


def nasty_store(folder: Path) -> Store:
    """All of that in a store, with hostile labels."""
    store = Store(folder / "runs.duckdb")
    label = NASTY.replace("\ud800", "").replace("\udfff", "")
    ingest_paths(
        store,
        *nasty_files(folder / "logs"),
        **{label: label, "team": label, "repo": label, "task": label, "experiment": label},
    )
    return store
