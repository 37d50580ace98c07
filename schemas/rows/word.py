"""An index of the long texts of runs by their words, as it is stored. It follows from `runs`; a search without it finds the same."""

from __future__ import annotations

from typing import Annotated

import pyarrow as pa
from pydantic import Field

from schemas.rows.row import ArrowType, Count, Row, Text
from schemas.units import Unit

WHITE_SPACE = r"[ \t\n\v\f\r]+"
"""What is between words, as a regular expression: the white space of ASCII."""

Counts = Annotated[tuple[Count, ...], ArrowType(pa.list_(pa.int64()), Unit.COUNT)]


class CommonWordRow(Row):
    """A word of several texts that were indexed together. The same word has a row for each such part."""

    word: Text = Field(description="The word, in lower case: what is between white space.")
    text_nos: Counts = Field(description="The texts that have it (runs.text_no). A number that no run has any more says nothing.")


class RareWordsRow(Row):
    """The words of one text that no other text indexed together with it has."""

    text_no: Count = Field(description="Number of the text (runs.text_no).")
    words: Text = Field(description="The words, in lower case, with blanks between them.")
