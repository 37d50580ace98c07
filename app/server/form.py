"""A streaming parser of a `multipart/form-data` body with one file: memory is bounded by the size of a piece."""

from __future__ import annotations

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header


class NoFile(ValueError):
    """The body is not a form with exactly one file; the message says why."""


class FileForm:
    """Takes the body in pieces and returns the bytes of the file. `name` is set before the first bytes are returned."""

    def __init__(self, content_type: str) -> None:
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if kind != b"multipart/form-data" or not boundary:
            raise NoFile("the body is no multipart/form-data with a boundary.")
        self.name = ""
        self._files = 0
        self._is_whole = False
        self._field = self._value = self._disposition = b""
        self._found: list[bytes] = []
        parser = _parser(boundary, self)
        self._write = parser.write

    def feed(self, piece: bytes) -> bytes:
        """The bytes of the file in a piece of the body. Raises NoFile."""
        self._found.clear()
        try:
            self._write(piece)
        except FormParserError as error:
            raise NoFile(str(error)) from error
        return b"".join(self._found)

    def end(self) -> None:
        """To be called at the end of the body. Raises NoFile if it is incomplete or has no file."""
        if not self._is_whole or not self._files:
            raise NoFile("it ends too early." if self._files else "it holds no file.")

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def on_header_end(self) -> None:
        if self._field.lower() == b"content-disposition":
            self._disposition = self._value
        self._field = self._value = b""

    def on_headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition)
        self._files += 1
        if b"filename" not in options or self._files > 1:
            raise NoFile("it holds something else than one file.")
        self.name = options[b"filename"].decode("utf-8", errors="replace")

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._found.append(data[start:end])

    def on_end(self) -> None:
        self._is_whole = True


def _parser(boundary: bytes, form: FileForm) -> MultipartParser:
    try:
        return MultipartParser(
            boundary,
            {
                "on_header_field": form.on_header_field,
                "on_header_value": form.on_header_value,
                "on_header_end": form.on_header_end,
                "on_headers_finished": form.on_headers_finished,
                "on_part_data": form.on_part_data,
                "on_end": form.on_end,
            },
        )
    except FormParserError as error:  # the boundary is too long
        raise NoFile(str(error)) from error
