"""A document as the wire model of its agent."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ingest.agents.kept_run import complaints
from ingest.sources.document import Document
from schemas.errors import InvalidRecord, RejectReason
from schemas.wire.values import DIGITS_LOST

Wire = TypeVar("Wire", bound=BaseModel)


def wire_record(model: type[Wire], document: Document) -> Wire:
    """The record, its money with all its digits. Raises InvalidRecord with every wrong field."""
    try:
        try:
            return model.model_validate(document.value)
        except ValidationError as error:
            if not any(detail["type"] == DIGITS_LOST for detail in error.errors(include_url=False, include_context=False)):
                raise
            return model.model_validate(document.written)
    except ValidationError as error:
        raise InvalidRecord(RejectReason.INVALID_RECORD, complaints(error)) from error


def wire_event(model: type[Wire], event: dict[str, Any]) -> Wire | None:
    """The event; None where `wire_record` has to read its document, for the digits of its money or for the reason of its reject."""
    try:
        return model.model_validate(event)
    except ValidationError:
        return None
