"""What the folders and the name of a file of ISO-Bench say: experiment, agent, model, repository and variant.

An experiment is one folder, such as `2026-01/omniperf_results_3way_claude_code`, with the results of one agent and of what it is
compared with in `results/`, `results/separate_agent/`, `results/separate_baseline/` or `baseline_benchmark_results/`, one file per commit
and variant; or `2026-05-x3` with `baseline/` and one folder per agent. So all files of an experiment are one batch: this is how the
published analysis divides them, and a workload or a model that differs still keeps two of them apart. `docker/` is a set-up of its own.
"""

from __future__ import annotations

import re

from ingest.measurements.base import MeasuredFile
from schemas.agents import ISO_BENCH_AGENTS
from schemas.rows.measurement import Variant
from schemas.wire.iso_bench import agent_named, model_named

VARIANTS = {
    "baseline": Variant.BASELINE,
    "human": Variant.REFERENCE,
    "agent": Variant.CANDIDATE,
    **dict.fromkeys(ISO_BENCH_AGENTS, Variant.CANDIDATE),
}
"""Words of ISO-Bench → which code was measured."""

_REPOSITORIES = ("sglang", "vllm")
_DATED = re.compile(r"20\d\d-\d\d(?:-\S+)?")
_PARTS = re.compile(
    r"results|separate_(?:agent|baseline)|(?:baseline|isolated)_benchmark_results|reruns|logs|modal|docker|hf_export|vllm|sglang|human|agent"
    rf"|baseline|(?:{'|'.join(ISO_BENCH_AGENTS)})(?:_(?:sonnet|gpt)\w*)?|[0-9a-f]{{8}}"
)
"""Folders within an experiment."""

_OF_VLLM = re.compile(r"omniperf_results_3way_(?!sglang)\w+")
"""Experiments with an agent in their name are those of vLLM; SGLang's has its own name there."""

_OF_BASELINES = re.compile(r"(?:separate_)?baseline(?:_benchmark_results)?")
_OF_VARIANT = re.compile(r"_(human|agent|baseline)_result\.json")


def experiment(file: MeasuredFile) -> str | None:
    """The folder of the experiment, with the dated folder around it. None for a file without folders of its own."""
    places = [place for place, folder in enumerate(file.folders) if folder and not _PARTS.fullmatch(folder)]
    if not places:
        return None
    last = places[-1]
    first = last - 1 if last and _DATED.fullmatch(file.folders[last - 1]) else last
    return "/".join(file.folders[first : last + 1])


def batch_of_experiment(file: MeasuredFile) -> str | None:
    """The batch of a file with one variant."""
    name = experiment(file)
    return f"{name}/docker" if name and "docker" in file.folders else name


def agent_of(file: MeasuredFile) -> str | None:
    """The agent in the name of a folder, the innermost first."""
    return next((agent for folder in reversed(file.folders) if (agent := agent_named(folder))), None)


def model_of(file: MeasuredFile) -> str | None:
    """The agent's model in the name of the folder that names the agent."""
    return next((model_named(folder) for folder in reversed(file.folders) if agent_named(folder)), None)


def repo_of(file: MeasuredFile, *texts: str | None) -> str | None:
    """The repository, `vllm` or `sglang`: in the first of these texts that names one, in a folder, or the one that the file names most."""
    for text in (*texts, *reversed(file.folders)):
        if text and (named := next((repo for repo in _REPOSITORIES if repo in text.lower()), None)):
            return named
    if any(_OF_VLLM.fullmatch(folder) for folder in file.folders):
        return "vllm"
    return file.named_most(_REPOSITORIES)


def variant_of(file: MeasuredFile) -> Variant | None:
    """A folder of baselines goes before the name: in `2026-05-x3/baseline/` the files are called `…_agent_result.json`."""
    if any(_OF_BASELINES.fullmatch(folder) for folder in file.folders):
        return Variant.BASELINE
    named = _OF_VARIANT.search(file.file_name)
    return VARIANTS[named[1]] if named else None
