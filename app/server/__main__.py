"""The server of the dashboard, in a process of its own.

`python -m app.server`, started by `tachograph dashboard`.

Streamlit serves the pages and takes the uploads; the guard and the headers are ours. Environment
variables set the store and visitors' rights.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import click
import streamlit
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import get_instance
from streamlit.runtime.session_manager import SessionClient
from streamlit.starlette import App
from uvicorn.config import LOGGING_CONFIG

from app.server.access import addresses
from app.server.guard import FILE_MEGABYTES, Guard, protecting_headers
from app.server.static import Static

DASHBOARD = Path(__file__).parent.with_name("dashboard.py")
MESSAGE_MEGABYTES = 64
"""Largest message of a page's WebSocket in MB, which is held in memory even before a sign-in. Our
largest pages have two.
"""


class FirstVisitor(SessionClient):
    """Draws the first screen once the server is up, to have its modules and answers ready."""

    def __init__(self) -> None:
        self.session_id = get_instance().connect_session(self, {})
        get_instance().handle_backmsg(self.session_id, BackMsg(rerun_script=ClientState()))

    def write_forward_msg(self, msg: ForwardMsg) -> None:
        if msg.WhichOneof("type") == "script_finished":
            asyncio.get_running_loop().call_soon(self._leave)

    def _leave(self) -> None:
        get_instance().close_session(self.session_id)
        gc.freeze()


@asynccontextmanager
async def lifespan(_app: App) -> AsyncIterator[None]:
    """Import pandas while no page runs.

    Streamlit would do it in a page's thread, and Plotly may find half of it in another.
    """
    importlib.import_module("pandas")
    gc.freeze()  # Streamlit collects after every drawing, which takes 0.14 s over all modules
    FirstVisitor()
    yield


@click.command()
@click.option("--host", required=True)
@click.option("--port", type=int, required=True)
@click.option("--allow-host", "allowed", multiple=True)
def main(host: str, port: int, allowed: tuple[str, ...]) -> None:
    """Serve until a signal ends it."""
    LOGGING_CONFIG["loggers"]["uvicorn"]["level"] = "WARNING"
    ours = addresses(host, allowed)
    page = Path(streamlit.__file__).parent / "static" / "index.html"
    headers = protecting_headers(page)

    def failed(_request: Request, _error: Exception) -> Response:
        return PlainTextResponse("The server failed; its own messages say more.", 500, headers)

    app = App(
        DASHBOARD,
        lifespan=lifespan,
        middleware=[Middleware(Guard, ours, headers), Middleware(Static, page.parent)],
        exception_handlers={Exception: failed},
    )
    sign_in = os.environ.get("TACHOGRAPH_SIGN_IN")
    settings: dict[
        str, object
        # what our protection rests on, whatever files and variables say, and nothing that asks the
        # network
    ] = {
        "server.address": host,
        "server.port": port,
        "server.allowedHosts": ["*"] if ours.any_address else sorted(ours.names),
        "server.corsAllowedOrigins": [],
        "server.enableCORS": True,
        "server.enableXsrfProtection": True,
        "server.enableAgentApi": False,
        "server.enableStaticServing": False,
        "server.maxMessageSize": MESSAGE_MEGABYTES,
        "server.maxUploadSize": FILE_MEGABYTES,
        "server.trustedUserHeaders": {},
        "server.baseUrlPath": "",
        # also where a browser is wanted, which `serve` opens: else it advertises to developers
        "server.headless": True,
        "server.fileWatcherType": "none",
        "server.showEmailPrompt": False,
        "browser.gatherUsageStats": False,
        "logger.hideWelcomeMessage": True,  # it asks the network for this machine's addresses
        **({"secrets.files": [sign_in]} if sign_in else {}),
    }
    sys.argv = [str(DASHBOARD)]  # beside it lies the configuration that Streamlit reads
    with suppress(
        KeyboardInterrupt
    ):  # a Ctrl-C, which uvicorn raises again once it has ended; whoever started us says so
        app.run(config=settings)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(
        0
        # threads of pages may still draw, and an interpreter that is taken down beneath them aborts
        # or
        # tells of leaks
    )


if __name__ == "__main__":
    main()
