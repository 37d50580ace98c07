"""Bounded work on any content.

What hostile inputs become, and what is said of what was not read (D9, D10, D11).
"""

from __future__ import annotations

import io
import json
import tarfile
import zipfile

import pytest

from ingest.agents.claude_code.results import MOST_MODELS
from ingest.findings.summary_facts import READ_CHARACTERS
from ingest.pipeline import Options, ingest
from ingest.sources.archives import MOST_NAMED, members
from ingest.sources.contents import read
from ingest.sources.document import Document
from ingest.sources.files import Source, Unreadable
from ingest.store.database import Store
from schemas.errors import RejectReason
from tests.attack.hostile_inputs import FAMILIES, many_models, overlapping_zip, zip_of
from tests.conftest import record_text

COUNTS = ("accepted", "duplicates", "rejected", "ignored")


def unread(data: bytes) -> list[tuple[str, RejectReason]]:
    """(name, reason) of what is not read of an archive."""
    return [
        (part.position, part.reason)
        for part in members(Source("a", data))
        if isinstance(part, Unreadable)
    ]


@pytest.fixture
def small_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bombs of a megabyte."""
    monkeypatch.setattr("ingest.sources.decoding.SUSPECT_BYTES", 1 << 20)
    monkeypatch.setattr("ingest.sources.decoding.SUSPECT_RATIO", 100)


def test_every_hostile_input_is_accounted_for(store: Store) -> None:
    sources = [
        Source(name, FAMILIES[name](300)) for name in FAMILIES if not name.startswith("archive/")
    ]
    report = ingest(sources, store, Options(jobs=1))
    assert len(report.sources) == len(sources)
    assert not report.unreadable
    assert [
        source.name
        for source in report.sources
        if source.documents != sum(getattr(source, name) for name in COUNTS)
    ] == []
    assert [source.name for source in report.sources if not source.documents] == []


def test_d9_braces_that_begin_no_object_are_passed_over_at_once() -> None:
    """40 MB of them took over 120 seconds; two megabytes would take 12 where each is looked at."""
    contents = read(Source("x", b'{"' * 1_000_000))
    assert not [part for part in contents if isinstance(part, Unreadable) and part.certain]


def test_d9_members_that_share_their_bytes_are_read_once_and_named() -> None:
    """A zip of 0.2 MB took over 120 seconds."""
    names = unread(overlapping_zip(20_000))
    assert names
    assert {reason for _, reason in names} == {RejectReason.TOO_MUCH}


def test_d9_unread_members_are_named_up_to_a_bound_and_then_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ingest.sources.archives.MOST_NAMED", 5)
    assert MOST_NAMED > 5
    found = [
        part
        for part in members(Source("a", overlapping_zip(20_000)))
        if isinstance(part, Unreadable)
    ]
    assert len(found) == 6
    assert "more members skipped, not listed here" in found[-1].detail


def test_d9_a_record_of_very_many_models_is_a_reject_that_names_the_bound(store: Store) -> None:
    """One with 100,000 made a report take 84 seconds."""
    report = ingest([Source("a.json", many_models(200_000))], store)
    [reject] = report.sources[0].rejects
    assert (reject.reason, f"the maximum is {MOST_MODELS:,}" in reject.detail) == (
        RejectReason.TOO_MUCH,
        True,
    )


@pytest.mark.usefixtures("small_bombs")
def test_d11_good_members_behind_a_bomb_are_named_in_zip_and_tar() -> None:
    bomb = zip_of(1, b" " * (1 << 22))
    zipped, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.zip", bomb)
        archive.writestr("good.json", record_text())
    with tarfile.open(fileobj=tarred, mode="w") as archive_of_tar:
        for name, data in (("bomb.zip", bomb), ("good.json", record_text().encode())):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive_of_tar.addfile(entry, io.BytesIO(data))
    for data in (zipped.getvalue(), tarred.getvalue()):
        assert ("a!good.json", RejectReason.TOO_MUCH) in unread(data)


def test_d10_a_summary_beyond_the_bound_is_kept_whole_and_the_bound_is_a_finding(
    store: Store,
) -> None:
    text = "It is 50% faster → now.\n" * (READ_CHARACTERS // 20)
    report = ingest(
        [
            Source(
                "a.json",
                json.dumps(json.loads(record_text(result=text)), ensure_ascii=False).encode(),
            )
        ],
        store,
    )
    assert report.total("accepted") == 1
    with store.reading() as connection:
        [(kept,)] = connection.execute("select result from runs").fetchall()
        rules = {rule for (rule,) in connection.execute("select rule from findings").fetchall()}
    assert kept == text
    assert "read_in_part" in rules


def test_d10_a_long_event_is_read_from_its_bytes() -> None:
    event = '{"type":"user","message":{"content":"' + "→ {" * 600_000 + '"}}'
    parts = list(read(Source("x", f"{event}\n{record_text()}\n".encode())))
    assert [part.value["type"] for part in parts if isinstance(part, Document)] == [
        "user",
        "result",
    ]
