"""Logs for the benchmarks: records like the samples, each its own run, of about 4 kB with 3 kB of text."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "sample_logs" / "claude_code"
MODELS = ("claude-opus-4-6", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001", "us.anthropic.claude-sonnet-4-5-20250929-v1:0")
TEXT_CHARACTERS = 3000


def records(count: int, seed: int = 1) -> Iterator[str]:
    """So many records as lines of JSON, the same ones for the same seed."""
    chance = random.Random(seed)
    templates = [json.loads(path.read_text()) for path in sorted(SAMPLES.iterdir())]
    words = " ".join(template["result"] for template in templates).split(" ")
    for number in range(count):
        yield json.dumps(_record(chance, templates[number % 3], words), separators=(",", ":"), ensure_ascii=False)


def write_lines(path: Path, count: int) -> None:
    """One file with a record on each line."""
    with path.open("w", encoding="utf-8") as file:
        for line in records(count):
            file.write(f"{line}\n")


def write_folder(folder: Path, count: int) -> None:
    """A folder of files with one record each, a thousand in each of its folders."""
    for number, line in enumerate(records(count)):
        if number % 1000 == 0:
            (folder / f"{number // 1000:04}").mkdir(parents=True)
        (folder / f"{number // 1000:04}" / f"{number:07}.json").write_text(line, encoding="utf-8")


def _record(chance: random.Random, template: dict[str, object], words: list[str]) -> dict[str, object]:
    usage = {name: _usage(chance) for name in chance.sample(MODELS, chance.choice((1, 2, 2)))}
    start = chance.randrange(len(words))
    text = " ".join((words[start:] + words)[: TEXT_CHARACTERS // 6])[:TEXT_CHARACTERS] + f" {chance.random()}"
    return template | {
        "duration_ms": chance.randrange(10**4, 10**6),
        "duration_api_ms": chance.randrange(10**4, 10**6),
        "num_turns": chance.randrange(1, 200),
        "result": text,
        "session_id": _uuid(chance),
        "total_cost_usd": sum(float(str(one["costUSD"])) for one in usage.values()),
        "modelUsage": usage,
        "uuid": _uuid(chance),
    }


def _usage(chance: random.Random) -> dict[str, object]:
    return {
        "inputTokens": chance.randrange(10**5),
        "outputTokens": chance.randrange(10**5),
        "cacheReadInputTokens": chance.randrange(10**7),
        "cacheCreationInputTokens": chance.randrange(10**5),
        "webSearchRequests": 0,
        "costUSD": chance.random() * 3,
        "contextWindow": 200000,
    }


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))
