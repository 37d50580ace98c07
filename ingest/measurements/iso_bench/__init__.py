"""Results of ISO-Bench, which measures the patches of agents for vLLM and SGLang: one file per family of schemas.

Source: https://github.com/Lossfunk/ISO-Bench (Apache-2.0), before that https://github.com/thekernelcompany/OmniPerf-Bench (MIT),
`archive/results/` and `omniperf_results*/`. Every value is one run. A reference is the patch of the human whose commit names the task.
"""

from __future__ import annotations

from ingest.measurements.base import Tool
from ingest.measurements.iso_bench import exported, isolated, labels, micro, single, triples

TOOLS: tuple[Tool, ...] = (
    micro.TOOL,
    triples.INSTANCE,
    triples.PROGRESS,
    triples.TRIPLE,
    isolated.TOOL,
    triples.PER_VARIANT,
    single.RESULT,
    single.EARLY_RESULT,
    exported.TOOL,
    labels.TOOL,
)
