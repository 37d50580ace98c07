"""Logs that keep lines in a form of their own: of all sizes, torn while compressed, hostile."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources.contents import read
from ingest.sources.document import Document
from ingest.sources.files import Source, Unreadable
from schemas.errors import RejectReason
from schemas.file_kinds import NO_LOGS
from tests.conftest import record

TIME = "2026-03-01T10:11:12.123456789Z"
RECORD = record(result='Das "Größte" – 3.17x\n' * 60)


def docker(text: str, size: int) -> bytes:
    """The lines of a text as Docker keeps them, in pieces of at most so many characters."""
    kept = []
    for line in text.split("\n"):
        pieces = [line[at : at + size] for at in range(0, len(line), size)] or [""]
        kept += [{"log": piece} for piece in pieces[:-1]] + [{"log": f"{pieces[-1]}\n"}]
    stamped = ({**one, "stream": "stdout", "time": TIME} for one in kept)
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in stamped).encode()


@pytest.mark.parametrize("size", [1, 99, 1 << 14])
def test_a_record_is_found_whole_however_it_was_cut(size: int) -> None:
    """The pieces of the golden logs have one size."""
    text = f"begin\n{json.dumps(RECORD, indent=2, ensure_ascii=False)}\nend"
    found = list(read(Source("a.log", docker(text, size))))
    assert [part.value for part in found if isinstance(part, Document)] == [RECORD]


@pytest.mark.slow
def test_a_log_cut_off_while_it_was_compressed_gives_what_it_held() -> None:
    data = gzip.compress(docker(json.dumps(RECORD) + "\n" + "\n".join(map(str, range(9000))), 100))
    found = list(read(Source("a.log.gz", data[: len(data) // 2])))
    assert found[0].value == RECORD if isinstance(found[0], Document) else False
    assert [part.reason for part in found[1:] if isinstance(part, Unreadable)] == [
        RejectReason.TRUNCATED
    ]


HOSTILE = (
    '{"log":"\\ud800","stream":"x","time":"\\udfff"}',
    '{"__REALTIME_TIMESTAMP":"99999999999999999999","MESSAGE":[1e99,300,true]}',
    '{"__REALTIME_TIMESTAMP":"1","MESSAGE":[10000000000000000000000]}',
    f"{TIME} stdout P ",
)


@given(
    st.sampled_from(HOSTILE), st.lists(st.sampled_from(HOSTILE) | st.text(max_size=20), max_size=6)
)
def test_no_line_however_made_is_a_crash(first: str, lines: list[str]) -> None:
    contents = read(Source("a.log", "\n".join([first, *lines]).encode("utf-8", "replace")))
    assert list(contents) or contents.file_kind in NO_LOGS
