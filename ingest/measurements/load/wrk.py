"""wrk and wrk2: text of a terminal, one or several tests. wrk2 is told by its corrected latencies; its rate was set with `-R`.

The standard deviation of the latency is that of requests within one run, and `Req/Sec` that of one thread: no rows have them.
Bytes are counted in powers of 1024. `m` means minutes.

Source: https://github.com/wg/wrk and https://github.com/giltene/wrk2, `src/wrk.c`, `src/units.c`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import Measured, Origin
from ingest.measurements.words import statistic_named
from schemas.rows.claim import Scope
from schemas.units import Better, Flagged

_TEST = re.compile(r"^[ \t]*+Running (?P<duration>\S++) test @ (?P<url>\S++)[ \t]*+$", re.MULTILINE)
_COMMAND = re.compile(r"^.*(?<!\S)-c ?\d.*+$", re.MULTILINE)
_CONNECTIONS = re.compile(r"(?<!\d)(?P<threads>\d++) threads? and (?P<connections>\d++) connections?")
_TIME = r"(\d++(?:\.\d++)?)(us|ms|s|m|h)\b"
_LATENCY = re.compile(rf"^[ \t]*+Latency[ \t]++{_TIME}[ \t]++\S++[ \t]++{_TIME}", re.MULTILINE)
_PERCENTILE = re.compile(rf"^[ \t]*+(\d++(?:\.\d++)?)%[ \t]++{_TIME}", re.MULTILINE)
_RATE = re.compile(r"^[ \t]*+Requests/sec:[ \t]*+(\d++(?:\.\d++)?)", re.MULTILINE)
_TRANSFER = re.compile(r"^[ \t]*+Transfer/sec:[ \t]*+(\d++(?:\.\d++)?)([KMG]?)B", re.MULTILINE)
_ERRORS = re.compile(r"^[ \t]*+(?:Socket errors:|Non-2xx or 3xx responses:)", re.MULTILINE)
_WRK2 = re.compile(r"Thread calibration:|HdrHistogram - Recorded Latency")
_UNCORRECTED = "HdrHistogram - Uncorrected Latency"
_UNITS = {"m": "min"}
_BYTES = {"": "B/s", "K": "KiB/s", "M": "MiB/s", "G": "GiB/s"}


def _recognises(file: MeasuredFile) -> bool:
    return bool(_TEST.search(file.text) and _RATE.search(file.text))


def _read(file: MeasuredFile) -> Iterator[Measured]:
    tests = list(_TEST.finditer(file.text))
    ends = [test.end() for test in tests]
    following = [*(test.start() for test in tests[1:]), len(file.text)]
    for test, before, end in zip(tests, (0, *ends), following, strict=False):
        yield from _of_test(test, _command(file.text[before : test.start()]), file.text[test.end() : end])


def _command(before: str) -> str | None:
    """The last line in front of a test that has options of wrk, such as a copied command."""
    lines = _COMMAND.findall(before)
    return lines[-1].strip() if lines else None


def _of_test(test: re.Match[str], command: str | None, text: str) -> Iterator[Measured]:
    """The rate of wrk2 is a setting: only its latencies are results."""
    load = _CONNECTIONS.search(text)
    origin = Origin(
        benchmark=test["url"],
        params={"duration": test["duration"]} | ({name: int(count) for name, count in load.groupdict().items()} if load else {}),
        command=command,
        scope=Scope.END_TO_END,
        flags=(Flagged.ERRORS,) if _ERRORS.search(text) else (),
    )
    yield from _latencies(origin, text.partition(_UNCORRECTED)[0])
    is_set = (Flagged.SET_POINT,) if _WRK2.search(text) else ()
    if rate := _RATE.search(text):
        yield Measured(origin=origin, metric="request_throughput", statistic="rate", value=float(rate[1]), unit="req/s", n=1, flags=is_set)
    if sent := _TRANSFER.search(text):
        value, unit = float(sent[1]), _BYTES[sent[2]]  # more bytes per second may be larger answers, or more of them
        yield Measured(origin=origin, metric="transfer", statistic="rate", value=value, unit=unit, better=Better.UNKNOWN, n=1, flags=is_set)


def _latencies(origin: Origin, text: str) -> Iterator[Measured]:
    found: dict[str, tuple[str, str]] = {}
    if latency := _LATENCY.search(text):
        found = {"mean": (latency[1], latency[2]), "max": (latency[3], latency[4])}
    for share, value, unit in _PERCENTILE.findall(text):
        if statistic := statistic_named(f"p{float(share):g}"):  # not of 100 %, which is the maximum again
            found[statistic] = value, unit
    for statistic, (value, unit) in found.items():
        yield Measured(origin=origin, metric="latency", statistic=statistic, value=float(value), unit=_UNITS.get(unit, unit), n=1)


TOOL = Tool("wrk", (" test @ ", "Requests/sec:"), _recognises, _read)
