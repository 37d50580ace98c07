"""Tables drawn with the lines of a terminal (`│ decode │ 8 ms │ 2 ms │`) as Markdown has them, a character for each: offsets stay."""

from __future__ import annotations

_CROSSINGS = ("┼", "╬", "╪", "╫")
"""Only a table has lines that cross; trees of folders and framed headings have none."""

_BARS, _DASHES, _CORNERS = "│┃║├┝┠╞╟╠┤┥┨╡╢╣┼┿╂╪╫╬", "─━═", "┌┐└┘┏┓┗┛╔╗╚╝╒╕╘╛┬┴┯┷┳┻╤╧╦╩"
_MARKDOWN = str.maketrans(_BARS + _DASHES + _CORNERS, "|" * len(_BARS) + "-" * len(_DASHES) + " " * len(_CORNERS))


def undrawn(text: str) -> str:
    """The text with its drawn tables in Markdown; as it is, and the same object, where it has none."""
    return text.translate(_MARKDOWN) if any(crossing in text for crossing in _CROSSINGS) else text
