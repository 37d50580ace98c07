"""The first screen is drawn once for nobody when the server starts, so that the first visitor does not wait for what is done once.

That is half a second: Plotly's templates, DuckDB's catalogue, the answers that screens keep in caches, and what libraries import late.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.session_manager import SessionClient

PATIENCE_SECONDS = 5
"""A rehearsal that takes longer, for instance over a locked store, is ended: visitors have their own messages."""


class _Nobody(SessionClient):
    """A visitor who reads nothing and notices only the end of the script."""

    def __init__(self) -> None:
        self.is_done = asyncio.Event()

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        if msg.WhichOneof("type") == "script_finished":
            self.is_done.set()


async def rehearse(runtime: Runtime) -> None:
    """Run the script of the first screen in a session of its own, and close it. Where there is a sign-in, it ends there."""
    nobody = _Nobody()
    session = runtime.connect_session(nobody, {})
    try:
        ask = BackMsg()
        ask.rerun_script.query_string = ""
        runtime.handle_backmsg(session, ask)
        with suppress(TimeoutError):
            await asyncio.wait_for(nobody.is_done.wait(), PATIENCE_SECONDS)
    finally:
        runtime.close_session(session)
