"""Sources, rejects, findings, ingests and the properties of the store, as stored."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import pyarrow as pa

from schemas.errors import RejectReason
from schemas.file_kinds import FileKind
from schemas.rows.response import ResponseCopyRow
from schemas.rows.row import (
    ArrowType,
    Bytes,
    Count,
    Flag,
    Labels,
    LongText,
    Offset,
    Rank,
    RawText,
    Row,
    Text,
    UtcTime,
    column,
    optional,
)
from schemas.rows.run import RecordKindName
from schemas.units import Unit

Nanoseconds = Annotated[int, ArrowType(pa.int64(), Unit.COUNT, bounds={"ge": 0})]


class SourceRow(Row):
    """One file, upload or stream: documents = accepted + duplicates + rejected + ignored."""

    source_id: Text = column(title="Source id", description="sha256 of the file's bytes.")
    name: Text = column(title="Source", description="Path or file name.")
    bytes: Bytes = column(title="Size", description="Size in bytes.")
    kind: Annotated[FileKind, ArrowType(pa.string())] = column(
        title="Kind",
        description=(
            "log, archive, sidecar, measurement or loop; or, ignored: text, source, patch, json, "
            "csv, picture, binary or empty."
        ),
    )
    container: Text = column(
        title="Container type",
        description=(
            "How the records are stored in the file: object, array, jsonl, concatenated, mixed "
            "or none."
        ),
    )
    received_at: UtcTime = column(
        title="Ingested", description="When the file was first ingested (UTC)."
    )
    documents: Count = column(
        title="Documents", description="Records and other events found in the file."
    )
    accepted: Count = column(title="Accepted", description="New runs.")
    duplicates: Count = column(
        title="Duplicates", description="Duplicates: runs that were in the store already."
    )
    rejected: Count = column(
        title="Rejected", description="Records that could not be read; see rejects."
    )
    ignored: Count = column(
        title="Ignored",
        description="Events other than result records; 1 for a file that is no log.",
    )
    ingest_id: Count | None = optional(
        "Ingest", "The ingest that read it. Empty: an ingest before version 6 of the tables."
    )
    modified_ns: Nanoseconds | None = column(
        default=None,
        description="When the file was last modified as it was read, in ns since 1970 (UTC). "
        "Empty: no file, or modified less than two seconds before.",
    )
    resume_at: Bytes | None = column(
        default=None,
        description="0 for a session transcript, whose file may grow. Older versions wrote a byte.",
    )
    ingested_by: Text | None = optional(
        "Ingested by", "Who ingested it: user@host, or the signed-in visitor of a dashboard."
    )
    tool_version: Text | None = optional("Version", "Version of Tachograph that ingested it.")
    map: LongText | None = column(
        default=None,
        title="Map",
        description="The map by which its rows were read (TOML). Empty: it needed none.",
    )
    goes_on: Text | None = column(
        default=None,
        description="Of a file that has grown, and was read before: the source with its beginning.",
    )


class RejectRow(Row):
    """One document that could not be read as a run."""

    source_id: Text = column(title="Source id", description="The source (sources.source_id).")
    ordinal: Offset = column(
        title="Ordinal", description="Number of the document within its source, from 0."
    )
    position: Text = column(title="Location", description="Line and byte offset in the file.")
    reason: Annotated[RejectReason, ArrowType(pa.string())] = column(
        title="Reason", description="Reason code."
    )
    detail: LongText = column(title="Detail", description="What was wrong, and in which field.")
    excerpt: LongText = column(title="Excerpt", description="Beginning of the rejected record.")


class Severity(StrEnum):
    """How serious a finding is."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class FindingRow(Row):
    """What a rule noticed about a run, with the expected and the actual value."""

    run_id: Text = column(title="Run", description="Id of the run.")
    rule: Text = column(title="Rule", description="Name of the rule.")
    severity: Annotated[Severity, ArrowType(pa.string())] = column(
        title="Severity", description="info, warning or error."
    )
    message: LongText = column(title="Message", description="What was found.")
    expected: Text | None = optional("Expected", "Expected value.")
    actual: Text | None = optional("Actual", "Actual value.")


class StoreMetaRow(Row):
    """The store's own card: one row."""

    schema_version: Count = column(
        description="Version of the tables (schemas.store_version.SCHEMA_VERSION)."
    )
    created_by: Text = column(description="Version of Tachograph that made the store.")
    created_at: UtcTime = column(description="When the store was made (UTC).")
    last_ingest: Count = column(
        default=0, description="Number of the last ingest that was written, undone or not."
    )


class IngestRow(Row):
    """One ingest that changed the store."""

    ingest_id: Count = column(title="Ingest", description="Number of the ingest; never used again.")
    started_at: UtcTime = column(title="Started at", description="When it began (UTC).")
    finished_at: UtcTime = column(title="Finished at", description="When it was written (UTC).")
    who: Text = column(
        title="By", description="Who ingested: user@host, or the signed-in visitor of a dashboard."
    )
    tool_version: Text = column(title="Version", description="Version of Tachograph.")
    command: Text = column(title="Command", description="The command, or upload.")
    labels: Labels = column(
        default={}, title="Labels", description="Labels given to all runs of the ingest."
    )
    path_template: Text | None = optional("Path template", "Template for fields from paths.")
    path_tz: Text | None = optional(
        "Time zone of paths", "IANA time zone of times in names of files and folders. Empty: UTC."
    )
    sources: Count = column(title="Files", description="Files, those that were known included.")
    documents: Count = column(
        title="Documents", description="Records and other events found in the files."
    )
    accepted: Count = column(title="Accepted", description="New runs.")
    duplicates: Count = column(
        title="Duplicates", description="Runs that were in the store already."
    )
    rejected: Count = column(title="Rejected", description="Records that could not be read.")
    ignored: Count = column(title="Ignored", description="Events other than result records.")
    price_file: Text | None = column(
        default=None, description="sha256 of the price file that it gave the store."
    )


class RunRecordRow(Row):
    """One record that was read: the one that is kept as the run, or a copy of it."""

    run_id: Text = column(description="Id of the run.")
    source_id: Text = column(description="Id of the file it was read from.")
    ordinal: Offset = column(description="Number of the record within its file, from 0.")
    ingest_id: Count | None = column(
        default=None,
        description="The ingest that read it. Empty: an ingest before version 6 of the tables.",
    )
    record_kind: RecordKindName = column(
        description="result, stream, transcript, trajectory, trial, sidecar or telemetry."
    )
    is_kept: Flag = column(description="Whether the run is made of this record; one per run.")
    labels: Labels = column(
        default={}, description="Labels of its path and of the files beside it."
    )
    repo: Text | None = column(default=None, description="Repository by its path or sidecar file.")
    task: Text | None = column(default=None, description="Task by its path or sidecar file.")
    experiment: Text | None = column(
        default=None, description="Experiment by its path or sidecar file."
    )
    effort: Text | None = column(
        default=None, description="Effort by the record, its path or a file beside it."
    )
    record_rank: Rank = column(description="How complete the record is.")
    context_rank: Count = column(description="How much context the record has.")
    context: LongText | None = column(
        default=None, description="Of a run with several records: the context of this one, as JSON."
    )
    told: LongText | None = column(
        default=None,
        description="Of a run with several records: the figures that this one tells, as JSON.",
    )
    raw: RawText | None = column(
        default=None,
        description="Of a copy that differs from the kept record: the record as it was read.",
    )


class FoundFileRow(Row):
    """A file as ingests found it, whether they read it or had its bytes already."""

    file_no: Count = column(description="Its number in sightings.")
    source_id: Text = column(description="Id of the file.")
    name: Text = column(description="Path or file name.")
    labels: Labels = column(
        default={}, description="Labels that the ingest gave to all runs of the file."
    )
    copy_labels: Labels = column(
        default={}, description="Of a copy that was not kept: labels that its path gave."
    )
    modified_ns: Nanoseconds | None = column(
        default=None,
        description="When the file was last modified as it was found, in ns since 1970 (UTC). A "
        "file with the same path, size and time is not opened again. Empty: no file, or "
        "modified less than two seconds before.",
    )


class SightingRow(Row):
    """Which ingest found which file: an undo leaves what another ingest found, too."""

    ingest_id: Count = column(description="The ingest.")
    file_no: Count = column(description="The file (found_files.file_no).")


class ArchiveMemberRow(Row):
    """A file inside an archive.

    An ingest that finds the archive again finds its files without reading them.
    """

    archive_id: Text = column(description="Id of the archive.")
    source_id: Text = column(description="Id of the file inside.")
    name: Text = column(description="Its name behind that of the archive.")


class SupersededSourceRow(SourceRow):
    """A file as it was before a later ingest read it again, or read it grown."""

    superseded_by: Count = column(description="The later ingest.")


class SupersededRejectRow(RejectRow):
    """A reject that a later ingest removed."""

    superseded_by: Count = column(description="The later ingest.")


class SupersededResponseCopyRow(ResponseCopyRow):
    """A copy of a response that a later ingest found changed in its transcript, which has grown."""

    superseded_by: Count = column(description="The later ingest.")
