"""What an ingest brought: one row per ingest, one per record that it read, and what it took the place of, so that it can be undone."""

from __future__ import annotations

from pydantic import Field

from schemas.rows.response import ResponseCopyRow
from schemas.rows.row import Row, optional
from schemas.rows.run import RecordKindName
from schemas.rows.source import RejectRow, SourceRow
from schemas.rows.units import Count, Flag, Labels, LongText, Offset, RawText, Text, UtcTime


class IngestRow(Row):
    """One ingest that changed the store."""

    ingest_id: Count = Field(title="Ingest", description="Number of the ingest; never used again.")
    started_at: UtcTime = Field(title="Started at", description="When it began (UTC).")
    finished_at: UtcTime = Field(title="Finished at", description="When it was written (UTC).")
    who: Text = Field(title="By", description="Who ingested: user@host, or the signed-in visitor of a dashboard.")
    tool_version: Text = Field(title="Version", description="Version of Tachograph.")
    command: Text = Field(title="Command", description="The command, or upload.")
    labels: Labels = Field(default={}, title="Labels", description="Labels given to all runs of the ingest.")
    path_template: Text | None = optional("Path template", "Template for fields from paths.")
    path_tz: Text | None = optional("Time zone of paths", "IANA time zone of times in names of files and folders. Empty: UTC.")
    sources: Count = Field(title="Files", description="Files, those that were known included.")
    documents: Count = Field(title="Documents", description="Records and other events found in the files.")
    accepted: Count = Field(title="Accepted", description="New runs.")
    duplicates: Count = Field(title="Duplicates", description="Runs that were in the store already.")
    rejected: Count = Field(title="Rejected", description="Records that could not be read.")
    ignored: Count = Field(title="Ignored", description="Events other than result records.")
    price_file: Text | None = Field(default=None, description="sha256 of the price file that it gave the store.")


class RunRecordRow(Row):
    """One record that was read: the one that is kept as the run, or a copy of it."""

    run_id: Text = Field(description="Id of the run.")
    source_id: Text = Field(description="Id of the file it was read from.")
    ordinal: Offset = Field(description="Number of the record within its file, from 0.")
    ingest_id: Count | None = Field(default=None, description="The ingest that read it. Empty: an ingest before version 6 of the tables.")
    record_kind: RecordKindName = Field(description="result, stream, transcript, trajectory, trial or sidecar.")
    is_kept: Flag = Field(description="Whether the run is made of this record; one per run.")
    labels: Labels = Field(default={}, description="Labels that came with the record.")
    repo: Text | None = Field(default=None, description="Repository by its labels, path or sidecar file.")
    task: Text | None = Field(default=None, description="Task by its labels, path or sidecar file.")
    experiment: Text | None = Field(default=None, description="Experiment by its labels or path.")
    record_rank: Count = Field(description="How complete the record is.")
    context_rank: Count = Field(description="How much context the record has.")
    context: LongText | None = Field(default=None, description="Of a run with several records: the context of this one, as JSON.")
    told: LongText | None = Field(default=None, description="Of a run with several records: the figures that this one tells, as JSON.")
    raw: RawText | None = Field(default=None, description="Of a copy that differs from the kept record: the record as it was read.")


class SourceLabelsRow(Row):
    """Labels that a later ingest gave to all runs of a file."""

    ingest_id: Count = Field(description="The ingest that gave them.")
    source_id: Text = Field(description="Id of the file.")
    labels: Labels = Field(description="The labels.")


class SupersededSourceRow(SourceRow):
    """A file as it was before a later ingest read it again, or read it grown."""

    superseded_by: Count = Field(description="The later ingest.")


class SupersededRejectRow(RejectRow):
    """A reject that a later ingest removed."""

    superseded_by: Count = Field(description="The later ingest.")


class SupersededResponseCopyRow(ResponseCopyRow):
    """A copy of a response that a later ingest found otherwise in the same transcript, which has grown."""

    superseded_by: Count = Field(description="The later ingest.")
