"""Hostile inputs by the hundred.

Repeated tokens, deep nesting, many of everything, archives that grow.

Every family is a name and a function of a size: size in bytes → the bytes of a file of about that
size, always the same. Names say what is repeated: `text/…` stands in the summary of a good record,
`line/…` is that text bare in a file, `file/…` and `archive/…` are files.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from itertools import product
from typing import Any

import zstandard

from tests.conftest import record, record_text


def overlapping_zip(size: int) -> bytes:
    """A zip whose entries all point to the same data: what David Fifield showed.

    A third of the size is that data.
    """
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    kernel = b" " * min(size * 300, 1 << 26)
    data = compressor.compress(kernel) + compressor.flush()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("good.json", record_text())
        first = zipfile.ZipInfo("000000")
        first.compress_type, first.CRC, first.file_size, first.compress_size = (
            8,
            zlib.crc32(kernel),
            len(kernel),
            len(data),
        )
        first.header_offset = archive.fp.tell()  # type: ignore[union-attr]
        archive.fp.write(first.FileHeader() + data)  # type: ignore[union-attr]
        archive.start_dir = archive.fp.tell()  # type: ignore[union-attr]
        for _ in range(max(2, (size - len(data)) // 52)):
            archive.filelist.append(first)
        archive._didModify = True  # type: ignore[attr-defined]
    return buffer.getvalue()


def zip_of(count: int, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(count):
            archive.writestr(zipfile.ZipInfo(f"{number:06}.json"), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def tar_of(count: int, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for number in range(count):
            entry = tarfile.TarInfo(f"{number:06}.json")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def zip_in_zips(size: int) -> bytes:
    data = zip_of(10, b" " * size)
    for _ in range(3):
        data = zip_of(10, data)
    return data


def bomb_and_good(size: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.json", b" " * (size * 1000))
        for number in range(20):
            archive.writestr(f"good{number}.json", record_text(uuid=f"{number}"))
    return buffer.getvalue()


Make = Callable[[int], bytes]

TOKENS = {
    "braces-open": "{",
    "braces-quote": '{"',
    "braces-pairs": "{}",
    "braces-colon": '{"a":',
    "brackets-open": "[",
    "brackets-pairs": "[]",
    "brackets-links": "[a](",
    "brackets-images": "![",
    "brackets-references": "[a]: b\n",
    "parentheses": "(",
    "angles": "<",
    "angles-tags": "<a ",
    "quotes": '"',
    "quotes-escaped": '\\"',
    "quotes-mixed": "'\"`",
    "backslashes": "\\",
    "escapes-unicode": "\\ud800",
    "surrogates": "\\ud83d\\ude80",
    "backticks": "`",
    "backticks-growing": "` `` ``` ```` ",
    "stars": "*",
    "stars-strong": "**a",
    "underscores": "_a",
    "tildes": "~~a",
    "fences": "```\n",
    "fences-json": "```json\n{\n```\n",
    "headings": "# a\n",
    "quote-marks": "> ",
    "lists": "- ",
    "lists-lines": "- a\n",
    "lists-deep": "- a\n  ",
    "pipes": "|",
    "pipes-cells": "| a ",
    "pipes-rows": "| a | 1 ms | 2 ms |\n",
    "pipes-rules": "|---|---|\n",
    "pipes-open-rows": "a | b | c\n",
    "pipes-heads": "| Before | After |\n|---|---|\n",
    "table-wide": "| Before 10 ms | After 5 ms ",
    "boxes": "│ a │ 8 ms │ 2 ms │\n├───┼───┤\n",
    "boxes-crossings": "┼",
    "percentages": "50% ",
    "percentages-faster": "50% faster ",
    "factors": "2x ",
    "arrows": "→ ",
    "arrows-figures": "10 ms → 5 ms ",
    "from-to": "from 10 ms to 5 ms ",
    "was-now": "was 10 ms, now 5 ms; ",
    "took": "took 10 seconds ",
    "before-lines": "Before: 10 ms\n",
    "before-after-lines": "Before: 10 ms\nAfter: 5 ms\n",
    "labels": "Improvement: 50%\n",
    "sections": "## Before\nDecode: 10 ms\n## After\nDecode: 5 ms\n",
    "numbers": "1 ",
    "numbers-long": "1234567890",
    "numbers-units": "1 ms, ",
    "numbers-clock": "1:23:",
    "dates": "2026-03-01T10:11:12Z ",
    "log-prefixes": "[2025-11-30T17:40:06.201Z] [INFO] ",
    "log-prefixes-lines": "\n[2025-11-30T17:40:06.201Z] [INFO] {",
    "log-prefixes-braces": '2025-11-30T17:40:06Z {"a": 1,\n',
    "comments": "// a\n",
    "words-spelled": "twice as fast as twice ",
    "words-cjk": "提升了50%，降低 3 倍。",
    "words-claims": "significantly faster and much faster ",
    "sentences": "The cache made it faster. ",
    "hedges": "about ~ roughly 5x ",
    "spaces": " ",
    "spaces-figures": "1" + " " * 40,
    "tabs": "\t",
    "line-feeds": "\n",
    "line-feeds-blank": " \n \n",
    "colours": "\x1b[31m",
    "colours-braces": "\x1b[1;39m{\x1b[0m\n",
    "mojibake": "â†’",
    "emoji": "🎉",
    "noncharacters": "\ufdd0",
    "bidi": "\u202e\u2066",
    "combining": "e\u0301\u0323",
    "nul-escapes": "\x00",
    "paths": "`src/a.py` ",
    "paths-lines": "- `src/a.py` (3 insertions, 2 deletions)\n",
    "patches": "created a.patch ",
    "files-headings": "Files modified:\n",
    "changes-plus": "+1 -1 ",
    "commits": "commit 1a2b3c4d ",
    "tests-passed": "3 tests passed ",
    "deliverables": "Deliverables:\n- `a.py`\n",
    "counts": "14 instances:\n- a: 3 instances\n",
    "totals": "Fixes (6 total)\n1. a\n2. b\n",
    "blocked": "I am blocked. ",
    "marks": '"total_cost_usd": 1, "duration_ms": 1, ',
    "marks-braces": '{"total_cost_usd": 1, ',
    "marks-type": '{"type":"result",',
    "marks-events": '{"type":"assistant"',
    "marks-lines": '{"type":"result","total_cost_usd"\n',
    "marks-quoted": "{'total_cost_usd': 1}\n",
    "records-toy": '{"type":"result","duration_ms":1,"num_turns":1}\n',
    "keys": '"a":1,',
    "urls": "http://a.b/c ",
    "autolinks": "<http://a",
    "entities": "&amp;",
    "entities-open": "&",
    "html-comments": "<!-- ",
    "dollars": "$1 ",
    "equals": "a=1 ",
}
"""Name → what is repeated."""

PAIRED = tuple(product("{[(\"'`<", "}])\"'`>,:\\"))
"""Every opening sign with every closing one: what a scanner may match."""


def repeated(token: str) -> Callable[[int], str]:
    return lambda size: token * max(1, size // len(token.encode("utf-8", "replace")))


def nested(opening: str, closing: str) -> Callable[[int], str]:
    return lambda size: opening * (size // 2) + closing * (size // 2)


def shuffled(seed: int, tokens: tuple[str, ...]) -> Callable[[int], str]:
    """A size → tokens in no order, always the same."""

    def text(size: int) -> str:
        chance, parts, length = random.Random(seed), list[str](), 0
        while length < size:
            parts.append(chance.choice(tokens))
            length += len(parts[-1])
        return "".join(parts)

    return text


def one_line(token: str) -> Callable[[int], str]:
    return lambda size: "word " * (size // 5) + token


TEXTS: dict[str, Callable[[int], str]] = {
    **{name: repeated(token) for name, token in TOKENS.items()},
    **{
        f"pair-{ord(opening):02x}-{ord(closing):02x}": repeated(opening + closing)
        for opening, closing in PAIRED
    },
    **{
        f"nest-{ord(opening):02x}": nested(opening, closing)
        for opening, closing in ("{}", "[]", "()", "<>", "*_")
    },
    **{f"shuffle-{seed}": shuffled(seed, tuple(TOKENS.values())) for seed in range(12)},
    **{
        f"shuffle-claims-{seed}": shuffled(seed, _claims)
        for seed in range(6)
        if (_claims := tuple(list(TOKENS.values())[36:66]))
    },
    "line-long-claim": one_line("from 10 ms to 5 ms"),
    "line-long-table": one_line("| 10 ms | 5 ms |"),
    "line-long-label": one_line("Before: 10 ms\nAfter: 5 ms"),
}
"""Name → a size → a text: for the summary of a record, and as a file of its own."""


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def in_record(text: Callable[[int], str]) -> Make:
    return lambda size: _line(record(result=text(size)))


def bare(text: Callable[[int], str]) -> Make:
    return lambda size: text(size).encode("utf-8", "replace")


def _model(number: int, cost: float = 0.0) -> dict[str, Any]:
    return {
        "inputTokens": number,
        "outputTokens": 1,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
        "costUSD": cost,
    }


def many_models(size: int) -> bytes:
    count = max(1, size // 130)
    return _line(
        record(
            modelUsage={f"claude-opus-4-6-{number}": _model(number) for number in range(count)},
            total_cost_usd=0,
        )
    )


def many_keys(size: int) -> bytes:
    return _line(record(**{f"k{number}": 1 for number in range(size // 12)}))


def many_items(size: int) -> bytes:
    return _line(
        record(
            items=[{"a": 1}] * (size // 16),
            permission_denials=[{"tool_name": "Bash"}] * (size // 50),
        )
    )


def deep_field(size: int) -> bytes:
    return _line(record())[:-1] + b',"deep":' + b"[" * (size // 2) + b"]" * (size // 2) + b"}"


def deep_objects(size: int) -> bytes:
    return b'{"a":' * (size // 6) + _line(record()) + b"}" * (size // 6)


def wrapped_strings(size: int) -> bytes:
    text = _line(record(result="a" * (size // 64))).decode()
    for _ in range(6):
        text = json.dumps({"body": text})
    return text.encode()


def many_records(size: int) -> bytes:
    return b"".join(
        _line(record(uuid=f"00000000-0000-0000-0000-{number:012}")) + b"\n"
        for number in range(size // 600 + 1)
    )


def same_record(size: int) -> bytes:
    return (_line(record()) + b"\n") * (size // 600 + 1)


def many_events(size: int) -> bytes:
    event = _line(
        {
            "type": "assistant",
            "session_id": "s",
            "message": {"content": [{"type": "tool_use", "id": "1", "name": "Bash"}]},
        }
    )
    return (event + b"\n") * (size // len(event)) + _line(record(session_id="s"))


def many_tools(size: int) -> bytes:
    events = (
        {
            "type": "assistant",
            "session_id": "s",
            "message": {"content": [{"type": "tool_use", "id": f"{n}", "name": f"T{n}"}]},
        }
        for n in range(size // 120)
    )
    return b"\n".join(map(_line, events)) + b"\n" + _line(record(session_id="s"))


def many_sessions(size: int) -> bytes:
    return b"\n".join(
        _line({"type": "system", "subtype": "init", "session_id": f"{n}"})
        for n in range(size // 60)
    )


def big_output(size: int) -> bytes:
    event = {
        "type": "user",
        "message": {
            "content": [
                {"type": "tool_result", "content": _line(record()).decode() * (size // 700 + 1)}
            ]
        },
    }
    return _line(event) + b"\n" + _line(record())


def cut_records(size: int) -> bytes:
    return (_line(record())[:300] + b"\n") * (size // 300 + 1)


def cut_records_in_line(size: int) -> bytes:
    return _line(record())[:300] * (size // 300 + 1)


def wrong_records(size: int) -> bytes:
    return b"\n".join(_line(record(num_turns="x", uuid=f"{n}")) for n in range(size // 600 + 1))


def open_array(size: int) -> bytes:
    return b"[" + (_line(record()) + b",") * (size // 600 + 1)


def pretty(size: int) -> bytes:
    return (
        json.dumps(record(result="a", items=list(range(size // 12))), indent=2)
        .replace(",\n", ", // note\n")
        .encode()
    )


def docker(size: int) -> bytes:
    text = _line(record(result="a" * size)).decode()
    pieces = [text[at : at + 100] for at in range(0, len(text), 100)]
    return b"\n".join(
        _line({"log": piece, "stream": "stdout", "time": "2026-03-01T10:11:12Z"})
        for piece in [*pieces, "\n"]
    )


def kubernetes(size: int) -> bytes:
    return b"2026-03-01T10:11:12.123456789Z stdout P {\n" * (size // 44)


def long_number(size: int) -> bytes:
    return _line(record(total_cost_usd=...))[:-1] + b',"total_cost_usd":0.' + b"1" * size + b"}"


def noise(size: int) -> bytes:
    return random.Random(1).randbytes(size)


def half_binary(size: int) -> bytes:
    return b"caf\xe9 {" * (size // 7)


def utf16(size: int) -> bytes:
    return json.dumps(record(result="a" * (size // 2))).encode("utf-16")


def zeros(size: int) -> bytes:
    return b"\0" * size + _line(record())


FILES: dict[str, Make] = {
    **{
        f"file/{make.__name__.replace('_', '-')}": make
        for make in (
            many_models,
            many_keys,
            many_items,
            deep_field,
            deep_objects,
            wrapped_strings,
            many_records,
            same_record,
            many_events,
            many_tools,
            many_sessions,
            big_output,
            cut_records,
            cut_records_in_line,
            wrong_records,
            open_array,
            pretty,
            docker,
            kubernetes,
            long_number,
            noise,
            half_binary,
            utf16,
            zeros,
        )
    },
    **{
        f"archive/{name}": make
        for name, make in {
            "zip-overlapping": overlapping_zip,
            "zip-many": lambda size: zip_of(size // 120 + 1, b"{}"),
            "zip-in-zips": zip_in_zips,
            "zip-bomb-and-good": bomb_and_good,
            "zip-cut": lambda size: zip_of(size // 120 + 1, b"{}")[:-30],
            "tar-many": lambda size: tar_of(size // 1024 + 1, b"{}"),
            "tar-cut": lambda size: tar_of(size // 1024 + 1, b"{}")[: size // 2],
            "tar-gz-many": lambda size: gzip.compress(tar_of(size // 64 + 1, b"{}")),
            "gz-spaces": lambda size: gzip.compress(b" " * (size * 900)),
            "gz-braces": lambda size: gzip.compress(b'{"' * (size * 4)),
            "gz-cut": lambda size: gzip.compress(many_records(size))[: size // 60 + 40],
            "gz-many-members": lambda size: gzip.compress(b"{}\n") * (size // 23 + 1),
            "bz2-spaces": lambda size: bz2.compress(b" " * (size * 900)),
            "xz-spaces": lambda size: lzma.compress(b" " * (size * 900)),
            "zst-spaces": lambda size: zstandard.compress(b" " * (size * 900)),
            "zst-frames": lambda size: zstandard.compress(b"{}\n") * (size // 12 + 1),
            "gz-in-gz": lambda size: gzip.compress(
                gzip.compress(gzip.compress(gzip.compress(b" " * size * 100)))
            ),
        }.items()
    },
}
"""Name → a size → a file that is more than a text."""

FAMILIES: dict[str, Make] = {
    **{f"text/{name}": in_record(text) for name, text in TEXTS.items()},
    **{f"line/{name}": bare(text) for name, text in TEXTS.items()},
    **FILES,
}
"""All families by name."""
