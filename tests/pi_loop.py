"""A loop of Pi as its two files: the session, and the log of experiments that it writes.

Both grow by one experiment at a time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

SESSION = "019a0000-0000-7000-8000-00000000a001"
METRIC, UNIT = "total_ms", "ms"
MODEL = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-opus-4-5"}


@dataclass
class PiLoop:
    """`project`: where the agent works; `file`: its session.

    `began_at` may be now, for a live test.

    `setup_usd`: the cost of the responses up to `init_experiment`; `costs_usd`: of each experiment,
    with the response that logs it.
    """

    project: Path
    file: Path
    began_at: datetime = datetime(2026, 6, 1, 12, tzinfo=UTC)
    session_id: str = SESSION
    setup_usd: Decimal = Decimal(0)
    costs_usd: list[Decimal] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    seconds: int = 0
    lines: int = 0

    def __post_init__(self) -> None:
        """Write the beginning of both files.

        The prompt, `init_experiment`, and the first line of the log.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        stamp = self.began_at.isoformat()
        self._append(
            self.file,
            {
                "type": "session",
                "version": 3,
                "id": self.session_id,
                "timestamp": stamp,
                "cwd": str(self.project),
            },
        )
        self._say("user", [{"type": "text", "text": "Make the benchmark faster."}])
        named = {
            "name": "Benchmark",
            "metric_name": METRIC,
            "metric_unit": UNIT,
            "direction": "lower",
        }
        self.setup_usd = self._call("init_experiment", named, Decimal("0.25"))
        config = {
            "type": "config",
            "name": "Benchmark",
            "metricName": METRIC,
            "metricUnit": UNIT,
            "bestDirection": "lower",
        }
        self._append(self.log, config)
        self._answer("init_experiment", "Initialized.", {"state": self._state()})

    @property
    def log(self) -> Path:
        return self.project / ".auto" / "log.jsonl"

    def experiment(
        self, value: float, description: str, status: str = "keep", *, usd: str = "0.1"
    ) -> None:
        """Add an experiment: an edit, a run and its entry, for three responses of `usd` each.

        A kept one makes a commit.
        """
        number = len(self.results) + 1
        commit = f"{number:x}c0ffee"[:7] if status == "keep" else "0000000"
        spent = self._call("bash", {"command": f"sed -i s/slow/fast/ run{number}.py"}, Decimal(usd))
        self._answer("bash", "(no output)", {})
        spent += self._call("run_experiment", {"command": "./.auto/measure.sh"}, Decimal(usd))
        self._answer(
            "run_experiment",
            f"METRIC {METRIC}={value}",
            {"exitCode": 0, "durationSeconds": 9.5, "parsedMetrics": {METRIC: value}},
        )
        logged = {
            "commit": "0000000",
            "metric": value,
            "status": status,
            "description": description,
            "asi": {"hypothesis": "it is slow"},
        }
        spent += self._call("log_experiment", logged, Decimal(usd))
        at = round(self._now().timestamp() * 1000)
        result = {
            "commit": commit,
            "metric": value,
            "metrics": {},
            "status": status,
            "description": description,
            "timestamp": at,
            "segment": 0,
        }
        self.results.append(result)
        self._append(self.log, {"run": number, **result})
        committed = (
            f"📝 Git: committed — [autoresearch/fast {commit}] {description}"
            if status == "keep"
            else "📝 Git: reverted changes"
        )
        self._answer(
            "log_experiment",
            f"Logged #{number}: {status} — {description}\n{committed}",
            {"state": self._state()},
        )
        self.costs_usd.append(spent)

    def end(self, usd: str = "0.5") -> None:
        """Add the answer that ends the session."""
        self._say(
            "assistant", [{"type": "text", "text": "Done."}], **self._told(Decimal(usd), "stop")
        )

    def _state(self) -> dict[str, Any]:
        return {
            "name": "Benchmark",
            "metricName": METRIC,
            "metricUnit": UNIT,
            "bestDirection": "lower",
            "results": self.results,
        }

    def _call(self, tool: str, arguments: dict[str, Any], usd: Decimal) -> Decimal:
        block = {
            "type": "toolCall",
            "id": f"call_{self.lines}",
            "name": tool,
            "arguments": arguments,
        }
        self._say(
            "assistant", [{"type": "text", "text": "Next."}, block], **self._told(usd, "toolUse")
        )
        return usd

    def _answer(self, tool: str, text: str, details: dict[str, Any]) -> None:
        call = f"call_{self.lines - 1}"
        self._say(
            "toolResult",
            [{"type": "text", "text": text}],
            toolCallId=call,
            toolName=tool,
            details=details,
            isError=False,
        )

    def _told(self, usd: Decimal, stop: str) -> dict[str, Any]:
        usage = {
            "input": 10,
            "output": 200,
            "cacheRead": 5000,
            "cacheWrite": 300,
            "totalTokens": 5510,
            "cost": {"total": float(usd)},
        }
        return {**MODEL, "usage": usage, "stopReason": stop}

    def _say(self, role: str, content: list[dict[str, Any]], **more: Any) -> None:
        began = round(self._now().timestamp() * 1000)
        self.seconds += 10
        line = {
            "type": "message",
            "id": f"{self.lines:08x}",
            "parentId": f"{self.lines - 1:08x}" if self.lines else None,
        }
        said = {"role": role, "content": content, **more, "timestamp": began}
        self._append(self.file, line | {"timestamp": self._now().isoformat(), "message": said})
        self.lines += 1

    def _now(self) -> datetime:
        return self.began_at + timedelta(seconds=self.seconds)

    def _append(self, file: Path, line: dict[str, Any]) -> None:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")
