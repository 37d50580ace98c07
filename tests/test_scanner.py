"""Text to objects: what is an object, what is broken, and no input costs more than its size."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.sources.contents import read
from ingest.sources.document import Document, parse
from ingest.sources.files import Source, Unreadable
from ingest.sources.scanner import LONGEST_LINE, scan
from schemas.errors import RejectReason
from schemas.file_kinds import NO_LOGS
from tests.conftest import record, record_text
from tests.examples import examples, is_thorough

ONE = record(uuid="1")
COMPACT = json.dumps(ONE, separators=(",", ":"))
EVENT = '{"type":"assistant","message":{}}'


def values(text: str) -> list[object]:
    return [span.value for span in scan(text) if not span.reason]


def told(text: str) -> list[tuple[RejectReason | None, str]]:
    return [(span.reason, span.error) for span in scan(text) if span.reason]


@pytest.mark.parametrize(
    "text",
    [
        COMPACT,
        json.dumps(ONE, indent=2),
        f"[2025-01-01] {COMPACT} done",
        f"```json\n{json.dumps(ONE, indent=2)}\n```",
        f'text {{ not json }} {{"broken": undefined}} {COMPACT}',
    ],
)
def test_an_object_is_found_in_whatever_stands_around_or_was_written_into_it(text: str) -> None:
    assert [value.get("uuid") for value in values(text) if isinstance(value, dict)] == ["1"]


def test_a_truncated_line_takes_nothing_of_the_next_and_is_told_with_its_figures() -> None:
    text = f'{{"type":"result","num_turns":41,"total_cost_usd":0.5,"res\n{COMPACT}'
    assert values(text) == [ONE]
    assert told(text) == [
        (
            RejectReason.TRUNCATED,
            "truncated JSON; readable before that: num_turns 41, total_cost_usd 0.5",
        )
    ]


@pytest.mark.parametrize("closed", [",\n}", ', "a": [1,\n]}'])
def test_a_comma_too_many_is_no_early_end(closed: str) -> None:
    assert [reason for reason, _ in told(COMPACT[:-1] + closed)] == [RejectReason.NOT_JSON]


PRETTY = json.dumps(ONE, indent=2)


def prefixed(prefix: str, text: str) -> str:
    """Every line with the prefix; `#` in it is the number of the line."""
    return "\n".join(
        prefix.replace("#", str(number)) + line for number, line in enumerate(text.split("\n"), 8)
    )


@pytest.mark.parametrize(
    "text", [PRETTY.replace("{\n ", "{"), f"Result: {PRETTY}", f"{PRETTY}\n{EVENT}\n{PRETTY}"]
)
@pytest.mark.parametrize(
    "prefix",
    [
        "2026-01-01T00:00:00.#234567Z ",
        "agent-1  | ",
        "job\tstep\t2026-01-01T00:00:#Z ",
    ],
)
def test_a_record_on_lines_with_a_prefix_is_read_as_if_there_were_none(
    prefix: str, text: str
) -> None:
    records = [ONE] * text.count('"uuid"')
    data = "first\n" + prefixed(prefix, f"{text}\ndone") + "\n{}"
    assert [
        span.value for span in scan(data) if span.value not in ({}, json.loads(EVENT))
    ] == records
    first = next(scan(data))
    assert (first.line, json.loads(first.text)) == (2, ONE)


def test_a_prefix_that_not_every_line_has_makes_no_record() -> None:
    assert ONE not in values(
        prefixed("agent-1  | ", PRETTY).replace('agent-1  |   "num', 'x   "num')
    )
    assert values('const x = {\n  text "a": 1\n}\n> {\nfoo "a": 1\n> }') == []


HALF = '{"type":"assistant","session_id":"k","message":{"content":[{"type":"text","text":"half'


@pytest.mark.parametrize("cut", [HALF, HALF[:30], COMPACT[:-1], HALF + "x" * LONGEST_LINE])
def test_a_torn_line_is_one_reject_and_costs_no_other_line(cut: str) -> None:
    text = f"{COMPACT}\n{cut}{COMPACT}\n{EVENT}\n"
    assert values(text) == [ONE, json.loads(EVENT)]
    assert len(told(text)) == 1


@pytest.mark.parametrize(
    "line",
    [
        HALF + json.dumps(COMPACT)[1:-1],
        HALF + COMPACT + '"}',
        HALF + COMPACT + "x" * LONGEST_LINE + '"}',
        '{"type":"user","tool_use_result":' + COMPACT,
        'note {"type":"user","content":"it said ' + COMPACT + '"}',
        json.dumps({"type": "user", "content": HALF + COMPACT}),
    ],
)
def test_a_record_that_an_event_quotes_is_none_though_the_event_be_broken(line: str) -> None:
    assert ONE not in values(f"{line}\n{EVENT}")


def test_an_object_that_is_never_closed_takes_nothing_of_the_lines_behind_it() -> None:
    assert values(f'options {{"x": [\n{COMPACT}\n{COMPACT}') == [ONE, ONE]


def test_text_with_braces_is_no_object_and_a_value_of_a_key_belongs_to_the_object_around_it() -> (
    None
):
    assert values(f'"result" : {COMPACT}') == []
    assert told('if (x) { "y" } else { }\n{"a" b}\nset {"x"}') == []


def test_numbers_of_thousands_of_digits_and_deep_nesting_are_no_crash() -> None:
    assert values('{"a": ' + "9" * 5000 + "}\n" + COMPACT) == [ONE]
    assert values("text " + '{"a":[' * 5000 + "\n" + COMPACT) == [ONE]
    with pytest.raises(ValueError, match="nested too deep"):
        parse("[" * 100_000)


HOSTILE = (
    '{"a":',
    '[{"a":',
    '{"type":"result","x":{\n',
    "{ ",
    "[1,",
    '{"type":"result","num_turns":1,"res\n[2025-11-30T17:40:06.201Z] [INFO] \n',
    "//,",
    '> {\n> "a":1,\n',
    "{\n[2025-11-30T17:40:06.201Z]\n",
    '{"type":"{"type":"a"}',
    '{"type":"result","a":"\\"',
    '{"a":"',
)


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_comes_to_an_end_and_to_something(piece: str) -> None:
    size = 40_000 if is_thorough() else 4_000
    contents = read(Source("hostile", (piece * (size // len(piece))).encode()))
    assert list(contents) or contents.file_kind in NO_LOGS


PIECES = (
    *'{}[]",:\\\n 1aé🎉',
    *("\r\n", "//x\n", '"a":', "null", "```", COMPACT, EVENT, '{"a":1}', '{"type":"result"'),
    *('{"type":"user","x":"', '"num_turns":3', "\n[2025-11-30T17:40:06.201Z] [INFO] "),
    *("> ", "{\n", '>  "a": 1', '> {\n>  "a": 1\n> }\n', "[2025-11-30T17:40:06.201Z] hello\n"),
)


@pytest.mark.slow
@example(text="[\n{x", size=1)
@example(text='{n {"x": 1} {"type":"result"}', size=2)
@examples(150)
@given(
    text=st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    size=st.sampled_from((1, 2, 3, 5, 17, 130, 700)),
)
def test_the_size_of_the_window_changes_nothing(text: str, size: int) -> None:
    source = Source("a file", text.encode())
    small, big = read(source, window_bytes=size), read(source)
    assert list(small) == list(big)
    assert small.kind == big.kind


@pytest.mark.slow
@examples(80)
@given(
    st.lists(st.sampled_from(["1", "2", "x"]), max_size=8),
    st.sampled_from(["\n", "\r\n", "\n\n", ""]),
)
def test_every_record_of_a_stream_is_found_where_it_stands(ids: list[str], between: str) -> None:
    texts = [record_text(uuid=uuid) for uuid in ids]
    data = between.join(texts).encode()
    parts = list(read(Source("a file", data)))
    assert [part.text for part in parts if isinstance(part, Document)] == texts
    assert len(parts) == len(texts)
    for part, text in zip(parts, texts, strict=False):
        assert isinstance(part, Document)
        at = int(part.position.rpartition(" ")[2])
        assert data[at : at + len(text)].decode() == text


@pytest.mark.parametrize("size", [17, 1 << 20])
@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line[100:],
        lambda line: b"\0" * 20 + line[20:],
        lambda line: b"\0" * len(line),
    ],
)
def test_a_line_that_lost_its_beginning_is_a_reject_and_space_at_the_end_is_none(
    damage: Callable[[bytes], bytes], size: int
) -> None:
    """A machine that lost its power leaves such lines; log text before the first object is none."""
    lines = [record_text(uuid=uuid).encode() for uuid in "abc"]
    torn = b"\n".join((lines[0], damage(lines[1]), lines[2], b"\0" * 4096))
    parts = list(read(Source("a file", torn), window_bytes=size))
    assert [
        part.reason if isinstance(part, Unreadable) else part.value["uuid"] for part in parts
    ] == ["a", RejectReason.NOT_JSON, "c"]
    text = b"level: {x}\n" + torn
    assert RejectReason.NOT_JSON not in [
        part.reason for part in read(Source("a file", text)) if isinstance(part, Unreadable)
    ]


def test_a_line_of_invalid_bytes_is_read_with_replacements() -> None:
    [part] = read(Source("a file", COMPACT.encode().replace(b"Done.", b"Don\xff.")))
    assert isinstance(part, Document)
    assert part.value["result"] == "Don\ufffd."
