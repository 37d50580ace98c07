"""A summary is a stranger's text: it may look like anything, and does nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.summaries import summary_html

GOLDEN_TEXT = """# Done

I made `f()` **3.17x** faster and ~~slower~~:

1. one
2. two & <three>

| case | time |
|---|---:|
| a | 5 ms |

```python
x = "<b>"
```

See [the report](https://example.com/r?a=1&b=2).
"""
CODE = "<code style=\"font:0.9em 'Source Code Pro',monospace;overflow-wrap:anywhere\""
GOLDEN_HTML = f"""<h3 style="font-size:1.2em">Done</h3>
<p>I made {CODE}>f()</code> <strong>3.17x</strong> faster and <s>slower</s>:</p>
<ol>
<li>one</li>
<li>two &amp; &lt;three&gt;</li>
</ol>
<table>
<thead>
<tr>
<th>case</th>
<th style="text-align:right">time</th>
</tr>
</thead>
<tbody>
<tr>
<td>a</td>
<td style="text-align:right">5 ms</td>
</tr>
</tbody>
</table>
<pre>{CODE} class="language-python">x = &quot;&lt;b&gt;&quot;
</code></pre>
<p>See <a href="https://example.com/r?a=1&amp;b=2" rel="noopener noreferrer nofollow" target="_blank">the report</a>.</p>
"""


def test_a_summary_looks_as_it_was_written() -> None:
    assert summary_html(GOLDEN_TEXT) == GOLDEN_HTML


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <svg/onload=alert(1)> b",
        "<style>body{display:none}</style>",
        "<iframe src='https://example.com'></iframe>",
        "<!-- comment -->",
    ],
)
def test_raw_html_stays_text(text: str) -> None:
    html = summary_html(text)
    assert "<" not in html.replace("<p>", "").replace("</p>", "")
    assert "&lt;" in html


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java&#115;cript:alert(1)",
        "data:text/html;base64,PHNjcmlwdD4=",
        "vbscript:x",
        "file:///etc/passwd",
        "mailto:a@b.c",
        "//evil.example",
        "/run?run=1",
    ],
)
@pytest.mark.parametrize("form", ["[x]({})", "<{}>", "[x][1]\n\n[1]: {}", "[![x]({})](y)"])
def test_a_link_leads_to_the_web_or_nowhere(form: str, target: str) -> None:
    html = summary_html(form.format(target))
    assert "href" not in html
    assert "src=" not in html


def test_a_link_sends_nothing_along() -> None:
    html = summary_html("[x](https://example.com)")
    assert html == '<p><a href="https://example.com" rel="noopener noreferrer nofollow" target="_blank">x</a></p>\n'


@pytest.mark.parametrize("text", ["![p](https://example.com/p.png)", "![p][1]\n\n[1]: https://example.com/p.png"])
def test_an_image_is_not_fetched(text: str) -> None:
    assert summary_html(text) == "<p>![p](https://example.com/p.png)</p>\n"


@pytest.mark.parametrize("text", ["$x^2$", "$$x$$", ":red[x]", ":smile:", ":material/home:", ":blue-badge[x]"])
def test_what_other_programs_read_into_a_text_stays_the_characters_it_is(text: str) -> None:
    assert summary_html(text) == f"<p>{text}</p>\n"


def test_deep_nesting_loses_no_words() -> None:
    assert "deep" in summary_html("> " * 40 + "deep")


@given(st.text(alphabet="<>&\"'`*_[]()!#|-~\\ \n:/javscriptdhx=", max_size=80))
def test_nothing_but_known_tags_comes_out(text: str) -> None:
    html = summary_html(text)
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html
