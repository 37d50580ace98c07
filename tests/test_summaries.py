"""A summary is a stranger's text: it may look like anything, and does nothing."""

from __future__ import annotations

import html
import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.text.summary import Mark, summary_html
from tests.conftest import ROOT
from tests.examples import examples

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
"""  # noqa: E501


def test_a_summary_looks_as_it_was_written() -> None:
    assert summary_html(GOLDEN_TEXT) == GOLDEN_HTML


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>", ("<img src=x "
"onerror=alert(1)>"), ("a <svg/onload=alert(1)> "
"b"), "<style>body{display:none}</style>",
        "<iframe src='https://example.com'></iframe>", "<!-- comment -->",
    ],
)  # fmt: skip
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
    assert html == (
        '<p><a href="https://example.com" rel="noopener noreferrer nofollow" '
        'target="_blank">x</a></p>\n'
    )


@pytest.mark.parametrize(
    "text", ["![p](https://example.com/p.png)", "![p][1]\n\n[1]: https://example.com/p.png"]
)
def test_an_image_is_not_fetched(text: str) -> None:
    assert summary_html(text) == "<p>![p](https://example.com/p.png)</p>\n"


@pytest.mark.parametrize(
    "text", ["$x^2$", "$$x$$", ":red[x]", ":smile:", ":material/home:", ":blue-badge[x]"]
)
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


PIECES = [
    *(
        "**3x**",
        "`1.2 s  → 3 ms`",
        " | ",
        "|---|---|",
        "\n",
        "\r\n",
        "\n\n",
        "> ",
        "- ",
        "1. ",
        "    ",
        "\t",
        "```",
        "~~",
        "***",
    ),
    *("__", "# ", "&amp;", "\\*", "\\|", "word", " ", "  ", "--", "===", "é"),
]
LINKS = [
    "[a](http://e.x/3x)",
    "<http://e.x/%EF%B7%900%EF%B7%91>",
    "![a](b)",
    "[1]: http://e.x",
    "[",
    "]",
    "](",
    "<",
    ">",
]
"""The second holds, written in percent, the characters that marks are made of."""


def texts_of(pieces: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=20).map("".join)


@given(
    st.text(alphabet="ab1 \n\t*_`~#>-+|[]()!<&;\\x\r\ufdd0\ufdd1", max_size=80)
    | texts_of([*PIECES, *LINKS]),
    st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), max_size=5),
)
@examples(60)
@example("*a*`b \n", [(2, 5)])
@example("```\na", [(0, 5)])
@example("|a|\n|-|\n|b\\|c|", [(0, 14), (11, 12)])
def test_marks_change_nothing_but_that_they_mark(text: str, spans: list[tuple[int, int]]) -> None:
    """Not a character, not an element: what is marked parses as if it were not."""
    marked = summary_html(text, [Mark(start, end, "color:red", '<"x">') for start, end in spans])
    assert MARK.sub("", marked) == summary_html(text)


@given(texts_of(PIECES), texts_of(PIECES))
@examples(60)
def test_a_mark_stands_where_its_span_is_seen(before: str, after: str) -> None:
    text = f"{before}Q7Q{after}"
    marked = summary_html(text, [Mark(len(before), len(before) + 3, "", "")])
    assert marked_texts(marked) == (["Q7Q"] if "Q7Q" in re.sub("<[^>]*>", "", marked) else [])


@pytest.mark.parametrize(
    ("text", "quote", "seen"),
    [
        ("made it **3.17x** faster", "**3.17x** f", ["3.17x", " f"]),
        ("from *85 s* to `25 s` now", "85 s* to `25 s", ["85 s", " to ", "25 s"]),
        ("a `1.5x  faster` b", "5x  f", ["5x  f"]),
        ("| a | b |\n|---|---|\n| x \\| y | **5 ms** |", "y | **5", ["y", "5"]),
        ("```\nbefore 12 ms\nafter 4 ms\n```", "12 ms\nafter 4 ms", ["12 ms\nafter 4 ms"]),
        ("> - one\r\n>   2x two\r\n", "2x two", ["2x two"]),
        ("a\n\n- 12 ms\n- 4 ms\n\nb", "12 ms\n- 4 ms", ["12 ms", "4 ms"]),
        ("[3x faster](https://e.x/3x) b", "3x f", ["3x f"]),
        ("2x 2x 2x", "2x 2x", ["2x 2x"]),
    ],
)
def test_a_mark_crosses_markup(text: str, quote: str, seen: list[str]) -> None:
    start = text.index(quote)
    assert marked_texts(summary_html(text, [Mark(start, start + len(quote), "", "")])) == seen


def test_marks_that_overlap_share_what_they_have_in_common() -> None:
    shown = summary_html(
        "one two three", [Mark(0, 7, "a", "first"), Mark(4, 13, "b", "second <i>")]
    )
    assert shown == (
        '<p><mark style="a" title="first">one </mark><mark style="a" title="first\nsecond '
        '&lt;i&gt;">two</mark><mark style="b" title="second &lt;i&gt;"> three</mark></p>\n'
    )


def test_every_labelled_claim_is_marked_whole() -> None:
    """Texts as agents write them: tables, lists, code.

    Compared without the Markdown in and around the claim.
    """
    bare = re.compile(r"[\s|*`_~>#\\-]")
    for line in (ROOT / "tests" / "labelled" / "claims.jsonl").read_text().splitlines():
        labelled = json.loads(line)
        for claim in labelled["claims"]:
            seen = marked_texts(
                summary_html(labelled["text"], [Mark(claim["start"], claim["end"], "", "")])
            )
            quote = labelled["text"][claim["start"] : claim["end"]]
            assert bare.sub("", "".join(seen)) == bare.sub("", quote), labelled["id"]


MARK = re.compile("</?mark[^>]*>")


def marked_texts(shown: str) -> list[str]:
    return [
        html.unescape(re.sub("<[^>]*>", "", text))
        for text in re.findall("<mark[^>]*>(.*?)</mark>", shown, re.DOTALL)
    ]
