"""What runs are called: by their task, their prompt, their summary or their file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queries.reading import fetch
from ingest.agents.shared.texts import LONGEST_PROMPT, prompt_of
from ingest.findings.titles import LONGEST_TITLE, title_of
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from tests.conftest import ingest_paths, record_text

SUMMARY = (
    "Perfect! ✅ I **optimized** the [decoder](https://e.example/x) in `cache.py`. All tests pass."
)


@pytest.mark.parametrize(
    ("summary", "title"),
    [
        (SUMMARY, "I optimized the decoder in cache.py"),
        ("Done. Added `LoopConfig` to `config.nim`.", "Added LoopConfig to config.nim"),
        ("## Summary\n\nThe parser is 1.5x faster now.", "The parser is 1.5x faster now"),
        ("# Faster decoding 🚀\n\nMore text.", "Faster decoding"),
        (
            "Here's a summary of what I've done:\n\n1. **Batching** of requests",
            "Batching of requests",
        ),
        (
            "A sentence that\ngoes on in\nthe next line. And another.",
            "A sentence that goes on in the next line",
        ),
        (
            "```\n[OK] complete\n```\n\n| a | b |\n|---|---|\n\nCut the latency by half!",
            "Cut the latency by half!",
        ),
        ("<promise>COMPLETE</promise>\n\nStory 5 is verified", "Story 5 is verified"),
        ("Uses v1.2 of numpy, e.g. in io.py. Next.", "Uses v1.2 of numpy, e.g. in io.py"),
        (
            "snake_case_name and __init__ stay, _emphasis_ goes",
            "snake_case_name and init stay, emphasis goes",
        ),
        ("最適化が完了しました。テストも通りました。", "最適化が完了しました"),
        ("Done.", "Done"),
        ("🎉\n\n---", None),
        ("", None),
        (None, None),
    ],
)
def test_a_summary_gives_its_first_sentence_that_says_something(
    summary: str | None, title: str | None
) -> None:
    assert title_of(None, summary) == title


def test_the_prompt_comes_before_the_summary_and_is_cut_at_a_word() -> None:
    prompt = (
        "<task>\n\n## Make the attention kernel of the vLLM worker faster without changing what "
        "it returns to its callers\nMore."
    )
    assert (
        title_of(prompt, SUMMARY)
        == "Make the attention kernel of the vLLM worker faster without changing what it…"
    )
    assert title_of("x" * 200, None) == "x" * (LONGEST_TITLE - 1) + "…"


@given(st.text(), st.text())
def test_a_title_is_short_one_line_and_has_a_word(prompt: str, summary: str) -> None:
    title = title_of(prompt, summary)
    assert title is None or (
        0 < len(title) <= LONGEST_TITLE
        and title == " ".join(title.split())
        and any(map(str.isalnum, title))
    )


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "session_id": "s",
        "message": {"role": "user", "content": content},
    } | more


RESULT = [{"type": "tool_result", "tool_use_id": "t", "content": "…"}]
TEXT = [{"type": "text", "text": "Make it faster"}]


@pytest.mark.parametrize(
    ("event", "prompt"),
    [
        (user("Make it faster"), "Make it faster"),
        (user([*TEXT, {"type": "image"}]), "Make it faster"),
        (user("x" * 50_000), "x" * LONGEST_PROMPT),
        (user(RESULT), None),
        (user(TEXT, parent_tool_use_id="t"), None),
        (user(TEXT, isSynthetic=True), None),
        (user(TEXT, isMeta=True), None),
        (user("<command-name>/clear</command-name>"), None),
        (user([3, None, {"type": "text", "text": 7}]), None),
        ({"type": "user", "message": 5}, None),
    ],
)
def test_a_prompt_is_what_the_user_wrote(event: dict[str, Any], prompt: str | None) -> None:
    assert prompt_of(event) == prompt


def stream(*events: dict[str, Any] | str) -> str:
    return "".join(
        f"{event if isinstance(event, str) else json.dumps(event)}\n" for event in events
    )


def result(number: int, **more: Any) -> str:
    return record_text(uuid=f"run-{number}", session_id="s", total_cost_usd=number, **more)


def column(store: Store, name: str) -> dict[str, Any]:
    return {
        row["run_id"]: row[name]
        for row in fetch(store, f"select run_id, {name} from v_runs").to_pylist()
    }


def test_each_result_of_a_stream_has_the_first_prompt_before_it_and_keeps_it_in_a_rebuild(
    store: Store,
) -> None:
    text = stream(
        user(RESULT),
        user("First question"),
        user("By the way"),
        result(1),
        user("Second question"),
        result(2),
        result(3),
    )
    ingest([Source("a.jsonl", text.encode())], store)
    prompts = {"run-1": "First question", "run-2": "Second question", "run-3": None}
    assert column(store, "prompt") == prompts
    assert column(store, "title") == {
        "run-1": "First question",
        "run-2": "Second question",
        "run-3": "Done",
    }
    rebuild(store)
    assert column(store, "prompt") == prompts


def test_the_task_is_the_title_also_where_it_is_given_later(store: Store) -> None:
    source = Source("a.jsonl", stream(user("First question"), result(1)).encode())
    ingest([source], store)
    assert column(store, "title") == {"run-1": "First question"}
    ingest([source], store, Options((("task", "Speed up decoding"),)))
    assert column(store, "title") == {"run-1": "Speed up decoding"}


def test_without_words_a_run_is_called_by_its_file_without_the_folders_that_all_share(
    store: Store, tmp_path: Path
) -> None:
    for name, numbers in (
        ("logs/night/a/run.json", (1,)),
        ("logs/night/b/run.jsonl", (2, 3)),
        (f"logs/night/{'deep/' * 30}x.json", (4,)),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("".join(f"{result(number, result='')}\n" for number in numbers))
    ingest_paths(store, tmp_path / "logs")
    titles = column(store, "title")
    assert [titles[f"run-{number}"] for number in (1, 2, 3)] == [
        "a/run.json",
        "b/run.jsonl #1",
        "b/run.jsonl #2",
    ]
    assert (len(titles["run-4"]), titles["run-4"][:1], titles["run-4"][-12:]) == (
        80,
        "…",
        "/deep/x.json",
    )


def test_the_prompt_beside_a_record_counts_where_another_sidecar_is(
    store: Store, tmp_path: Path
) -> None:
    for folder, sidecars in (("known", {"model_patch.diff": ""}), ("other", {})):
        (tmp_path / folder).mkdir()
        for name, text in {"task.txt": f"Speed up {folder}\nDetails.", **sidecars}.items():
            (tmp_path / folder / name).write_text(text)
        (tmp_path / folder / "log.json").write_text(record_text(uuid=folder, session_id=folder))
    ingest_paths(store, tmp_path)
    assert column(store, "prompt") == {"known": "Speed up known\nDetails.", "other": None}
