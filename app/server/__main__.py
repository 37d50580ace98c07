"""The server of the dashboard, in a process of its own: `python -m app.server`, started by `tachograph dashboard`.

Streamlit serves the pages; the guard, the headers and the upload route are ours. Environment variables say where the store is and what
visitors may do.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import NoReturn

import click
import streamlit
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from streamlit.runtime import get_instance
from streamlit.starlette import App
from uvicorn.config import LOGGING_CONFIG

from app.server import received
from app.server.addresses import Addresses, addresses
from app.server.bundles import Bundles
from app.server.guard import Guard, protecting_headers
from app.server.rehearsal import rehearse
from app.server.serve import is_read_only, note
from app.server.upload_route import UploadRoute
from ingest.system.held_folder import held_folder

DASHBOARD = Path(__file__).parent.with_name("dashboard.py")
FRAMEWORK = Path(streamlit.__file__).parent / "static"
"""Page, scripts and fonts of Streamlit."""

SWEEP_SECONDS = 5
MESSAGE_MEGABYTES = 64
"""The largest message of a page's WebSocket, which is held in memory also before a sign-in. Our largest pages have two."""


def dashboard_app(ours: Addresses) -> App:
    """The dashboard as an ASGI application."""
    headers = protecting_headers(FRAMEWORK / "index.html")

    def failed(_request: Request, _error: Exception) -> Response:
        return PlainTextResponse("The server failed; its own messages say more.", 500, headers)

    return App(
        DASHBOARD,
        lifespan=_lifespan,
        middleware=[Middleware(Guard, ours, headers), Middleware(Bundles, FRAMEWORK), Middleware(UploadRoute, received.current)],
        exception_handlers={Exception: failed},
    )


@asynccontextmanager
async def _lifespan(_app: App) -> AsyncIterator[None]:
    """While the server runs there is a folder for uploads, unless nobody may upload; what lost sessions left there goes.

    It answers once all that screens need is imported, and draws the first of them for nobody.
    """
    _load_screens()
    with ExitStack() as stack:
        if not is_read_only():
            _open_uploads(stack)
        tasks = [asyncio.create_task(_sweep()), asyncio.create_task(_rehearse())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


def _open_uploads(stack: ExitStack) -> None:
    try:
        folder = stack.enter_context(held_folder(Path(tempfile.gettempdir()), "tachograph-uploads-"))
    except OSError as error:
        note(f"Uploads are off: there is no place for them in the temporary folder ({error.strerror or error}).")
    else:
        stack.enter_context(received.opened(folder))


async def _rehearse() -> None:
    await rehearse(get_instance())
    _keep()


async def _sweep() -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        if here := received.current():
            await asyncio.to_thread(here.forget_lost, get_instance().is_active_session)


def settings(host: str, port: int, ours: Addresses) -> dict[str, object]:
    """Streamlit's options: those that our protection rests on, whatever files and variables say, and none that asks the network."""
    sign_in = os.environ.get("TACHOGRAPH_SIGN_IN")
    return {
        "server.address": host,
        "server.port": port,
        "server.allowedHosts": ["*"] if ours.any_address else sorted(ours.names),
        "server.corsAllowedOrigins": [],
        "server.enableCORS": True,
        "server.enableXsrfProtection": True,
        "server.enableAgentApi": False,
        "server.enableStaticServing": False,
        "server.maxMessageSize": MESSAGE_MEGABYTES,
        "server.trustedUserHeaders": {},
        "server.baseUrlPath": "",
        "server.headless": True,  # also where a browser is wanted, which `serve` opens: else it advertises to developers
        "server.fileWatcherType": "none",
        "server.showEmailPrompt": False,
        "browser.gatherUsageStats": False,
        "logger.hideWelcomeMessage": True,  # it asks the network for this machine's addresses
        **({"secrets.files": [sign_in]} if sign_in else {}),
    }


def _load_screens() -> None:
    """Import what screens need, a second of work, before the first visitor comes. The caches in it want a running server.

    Pandas is imported while no page runs: else Streamlit does it in the thread of a page, and Plotly finds half of it in another's.
    """
    for module in ("pandas", "app.screens.parts.filter_bar", "app.screens.sign_in_page"):
        importlib.import_module(module)
    _keep()


def _keep() -> None:
    """Exempt what is loaded by now from garbage collection. Streamlit collects after every drawing, 0.14 s over all modules."""
    gc.collect()
    gc.freeze()


@click.command()
@click.option("--host", required=True)
@click.option("--port", type=int, required=True)
@click.option("--allow-host", "allowed", multiple=True)
def main(host: str, port: int, allowed: tuple[str, ...]) -> None:
    """Serve until a signal ends it."""
    LOGGING_CONFIG["loggers"]["uvicorn"]["level"] = "WARNING"
    ours = addresses(host, allowed)
    sys.argv = [str(DASHBOARD)]  # beside it lies the configuration that Streamlit reads
    with suppress(KeyboardInterrupt):  # a Ctrl-C, which uvicorn raises again once it has ended; whoever started us says so
        dashboard_app(ours).run(config=settings(host, port, ours))
    _leave()


def _leave() -> NoReturn:
    """End now. Threads of pages may still draw, and an interpreter that is taken down beneath them aborts or tells of leaks."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
