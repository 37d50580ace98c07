"""`tachograph measure`: no false win, real differences found, claims put beside measurements."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.runner import decision
from app.runner.measure import Procedure, Subject, measure
from app.runner.trees import check_out
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from schemas.errors import UsageError
from schemas.units import Better
from schemas.wire.paired_benchmark import MeasureVerdict
from tests import conftest
from tests.conftest import ROOT, Run, fetched
from tests.examples import is_thorough

pytestmark = pytest.mark.slow

BUNDLE = ROOT / "sample_logs" / "measure" / "primes.bundle"
REVISIONS = ("--repo", "primes", "--baseline", "origin/main", "--candidate")
TOOK = ("--regex", "took ([0-9.]+) ms", "--unit", "ms")
BENCHMARK = ("--", sys.executable, "bench.py")

Noise = Callable[[np.random.Generator], Callable[[int], float]]


def skewed(rng: np.random.Generator) -> Callable[[int], float]:
    return lambda _: float(rng.exponential(0.1))


def drifting(rng: np.random.Generator) -> Callable[[int], float]:
    """A machine that gets slower, and breathes."""
    return lambda run: float(rng.normal(0, 0.05)) + run * 0.003 + 0.1 * math.sin(run / 25)


def bimodal(rng: np.random.Generator) -> Callable[[int], float]:
    """Two levels, such as those of a cache that fits or not."""
    return lambda _: float(rng.normal(0, 0.025)) + (0.25 if rng.random() < 0.3 else 0.0)


def normal(rng: np.random.Generator) -> Callable[[int], float]:
    return lambda _: float(rng.normal(0, 0.1))


def simulated(noise: Noise, rng: np.random.Generator, gain: float) -> MeasureVerdict:
    """The verdict of a measurement with runs of exp(noise), the candidate's `gain` times less."""
    error, count = noise(rng), iter(range(10_000))

    def block(effect: float) -> float:
        sides: dict[bool, list[float]] = {True: [], False: []}
        first = bool(rng.random() < 0.5)
        for is_candidate in (first, not first, not first, first):
            sides[is_candidate].append(error(next(count)) - (effect if is_candidate else 0))
        return (sum(sides[False]) - sum(sides[True])) / 2

    again = [block(0) for _ in range(decision.NOISE_BLOCKS)]
    planned = decision.blocks_needed(again, math.log(1.1))
    compared: list[float] = []
    for look in decision.looks(planned):
        compared += [block(math.log(gain)) for _ in range(look - len(compared))]
        verdict = decision.estimate(again, compared, planned).verdict
        if verdict in (MeasureVerdict.FASTER, MeasureVerdict.SLOWER):
            break
    return verdict


@pytest.mark.parametrize("noise", [normal, skewed, drifting, bimodal])
def test_equal_code_does_not_win_and_a_tenth_is_found(noise: Noise) -> None:
    """At most one of a hundred equal pairs is called faster or slower.

    Four of five gains of 10 % are found with the planned runs.
    """
    rng = np.random.default_rng(11)
    pairs, gains = (1_000, 200) if is_thorough() else (300, 50)
    wins = [simulated(noise, rng, 1.0) for _ in range(pairs)]
    assert sum(one in (MeasureVerdict.FASTER, MeasureVerdict.SLOWER) for one in wins) <= pairs / 100
    assert (
        sum(simulated(noise, rng, 1.1) is MeasureVerdict.FASTER for _ in range(gains))
        >= 0.8 * gains
    )


def test_equal_values_that_never_vary_are_the_same() -> None:
    assert decision.estimate([0.0] * 6, [0.0] * 6, 6).verdict is MeasureVerdict.SAME
    assert decision.blocks_needed([0.0] * 6, math.log(1.1)) == decision.LEAST_BLOCKS


@pytest.fixture
def primes(tmp_path: Path) -> Path:
    """A clone of the sample repository."""
    subprocess.run(["git", "clone", "--quiet", BUNDLE, tmp_path / "primes"], check=True)
    return tmp_path / "primes"


def figures(done: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_example_of_the_page_finds_the_improvement(tmp_path: Path, tachograph: Run) -> None:
    [block] = re.findall(
        r"<!-- example -->\n```sh\n(.*?)```", (ROOT / "docs" / "measure.md").read_text(), re.DOTALL
    )
    (tmp_path / "sample_logs").symlink_to(ROOT / "sample_logs")
    clone, command = block.replace("\\\n", "").strip().splitlines()
    subprocess.run(clone, shell=True, cwd=tmp_path, check=True)
    words = [
        sys.executable if word == "python3" else word.replace("python3", sys.executable)
        for word in shlex.split(command)[1:]
    ]
    at = words.index("--")
    done = tachograph(
        *words[:at], "--max-minutes", "1", "--json", "--fail-if", "slower", *words[at:]
    )
    made = figures(done)
    assert (made["verdict"], done.returncode) == ("faster", 0), done.stderr
    assert 1.3 < made["ratio"] < 3.5
    assert made["ratio_low"] < made["ratio"] < made["ratio_high"]


def test_a_candidate_that_fails_its_check_is_incorrect_whatever_its_speed(
    primes: Path, tmp_path: Path, tachograph: Run
) -> None:
    check = ("--check", f"{sys.executable} check.py")
    done = tachograph(
        "measure", *REVISIONS, "origin/wrong", *check, "--json", "--fail-if", "failed", *BENCHMARK
    )
    made = figures(done)
    assert (made["verdict"], made["failure"], made["ratio"], done.returncode) == (
        "failed",
        "incorrect",
        None,
        1,
    )
    assert "AssertionError" in made["failure_detail"]
    assert fetched(
        Store(str(tmp_path / conftest.FILE)), "select variant, status, failure from measurements"
    ) == [("candidate", "failed", "incorrect")]


def test_a_change_without_effect_is_no_win(primes: Path, tachograph: Run) -> None:
    made = figures(
        tachograph(
            "measure", *REVISIONS, "origin/no-op", "--runs", "8", "--json", *TOOK, *BENCHMARK
        )
    )
    assert made["verdict"] in ("same", "inside_noise")


def test_a_run_is_measured_by_its_patch_and_its_claim_is_judged(
    primes: Path, tmp_path: Path, tachograph: Run
) -> None:
    """The store shows the ratio, interval and verdict that the command prints.

    A rebuild keeps them.
    """
    (tmp_path / "agent.sh").write_text(
        "git checkout -q origin/faster -- primes.py; cat "
        f"<<'END'\n{conftest.record_text(result='The search is now 40x faster.')}\nEND\n"
    )
    tachograph(
        "run --db",
        str(tmp_path / conftest.FILE),
        "--",
        "sh",
        str(tmp_path / "agent.sh"),
        cwd=primes,
    )
    shutil.rmtree(primes)
    subprocess.run(["git", "clone", "--quiet", BUNDLE, primes], check=True)
    command = re.search(r"tachograph (measure .*?) -- BENCHMARK", tachograph("show").stdout)
    assert command
    words = command[1].replace("--repo .", "--repo primes").split()
    halved = ("--", "sh", "-c", "grep -q odd primes.py && echo took 10.$$ ms || echo took 20.$$ ms")
    done = tachograph(*words, "--runs", "8", "--json", "--fail-if", "promised-more", *TOOK, *halved)
    made = figures(done)
    assert (made["verdict"], made["claimed"], made["claim_verdict"], done.returncode) == (
        "faster",
        40,
        "over_claimed",
        1,
    ), done.stderr
    [verdict] = json.loads(tachograph("verdicts --format json").stdout)
    assert verdict["verdict"] == "faster"
    assert verdict["measured_speedup"] == pytest.approx(made["ratio"])
    assert (verdict["measured_low"], verdict["measured_high"]) == pytest.approx(
        (made["ratio_low"], made["ratio_high"]), rel=1e-3
    )
    assert "-- BENCHMARK" not in tachograph("show").stdout
    assert tachograph("rebuild").returncode == 0
    assert json.loads(tachograph("verdicts --format json").stdout) == [verdict]


FINDS = """from pathlib import Path
[other] = {one.parent for one in Path("..", "..").glob("*/*/bench.py")} - {Path("..", "..", Path.cwd().parent.name, "tree")}
"""  # noqa: E501
"""What code does that wants to win: it looks for the other tree."""

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(sys.argv[1], "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
"""
FORGED = """
import os, subprocess
before = os.stat("results.txt")
open("results.txt", "r+").write("some now")
os.utime("results.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
subprocess.run(["git", "add", "-A"])
subprocess.run(["git", "update-index", "--assume-unchanged", "results.txt"])
"""
LATER = """
import os
if os.path.exists("seen"):
    from pathlib import Path
    here = Path("..", "..", Path.cwd().parent.name, "tree")
    [other] = {one.parent for one in Path("..", "..").glob("*/*/bench.py")} - {here}
    (other / "bench.py").write_text("open('bench.py', 'w').write('import code_under_test\\\\n')")
open("seen", "w")
"""


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A repository with a benchmark that imports what it measures, and tables that it writes."""
    repo = tmp_path / "plain"
    repo.mkdir()
    (repo / "bench.py").write_text("import code_under_test\n")
    (repo / "code_under_test.py").write_text("value = 1\n")
    (repo / "results.txt").write_text("none yet\n")
    git = ("git", "-C", str(repo), "-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "a")):
        subprocess.run([*git, *words], check=True)
    return repo


def against(repo: Path, code: str, command: str = f"{sys.executable} bench.py", **how: Any) -> Any:
    """What is measured with a patch that replaces the code."""
    old, new = "-value = 1\n", "".join(f"+{line}\n" for line in code.splitlines())
    patch = (
        f"--- a/code_under_test.py\n+++ b/code_under_test.py\n@@ -1 +1,{new.count(chr(10))} "
        f"@@\n{old}{new}"
    )
    return measure(
        Subject(repo, "HEAD", patch=patch.encode()),
        Procedure(["sh", "-c", command], **({"runs": 4} | how)),
    )


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (
            FINDS + "(other / 'bench.py').write_text('import time; time.sleep(9)')",
            "while the candidate ran: bench.py",
        ),
        (FINDS + "(other / 'time.py').write_text('')", "while the candidate ran: time.py"),
        (
            FINDS + "(other / 'code_under_test.py').unlink()",
            "while the candidate ran: code_under_test.py",
        ),
        (
            FINDS + "(other / '.git' / 'hooks' / 'post-checkout').write_text('')",
            "while the candidate ran: .git/hooks",
        ),
        (FINDS + "(other / 'results.txt').chmod(0o777)", "while the candidate ran: results.txt"),
        (FINDS + "other.chmod(0o777)", "while the candidate ran: ."),
        (FINDS + "import os\nos.mkfifo(other / 'bench.pyc')", "while the candidate ran: bench.pyc"),
        (
            FINDS + "import os\nopen(os.fsencode(other) + b'/\\xff\\x1b[31m\\n::error', 'w')",
            "while the candidate ran: \ufffd\ufffd[31m ::error",
        ),
        (
            FINDS
            + "import os\nos.link(other / 'bench.py', 'mine')\nopen('mine', 'a').write('pass')",
            "while the candidate ran: bench.py",
        ),
        (FINDS + "import shutil\nshutil.rmtree(other)", "while the candidate ran: ., .git"),
        (
            "open('bench.py', 'w').write('pass')",
            "the candidate changed what its patch does not: bench.py",
        ),
        (FORGED, "what its patch does not: results.txt"),
    ],
)
def test_a_candidate_that_changes_what_it_is_measured_against_fails(
    plain: Path, code: str, found: str
) -> None:
    """Whatever its own `.git`, its times of files and its index say."""
    made = against(plain, code)
    assert made.failure == "incorrect"
    assert found in str(made.failure_detail)


def test_a_change_that_is_taken_back_before_the_block_ends_is_found(plain: Path) -> None:
    """The baseline itself restores what the candidate wrote into it, after the warm-up."""
    made = against(plain, LATER)
    assert "while the candidate ran: bench.py" in str(made.failure_detail)


def test_what_the_commands_of_the_baseline_rewrite_the_candidate_may_rewrite(plain: Path) -> None:
    """A lock file of the set-up, a table of results, and build output of one's own."""
    command = f"date +%N >> results.txt; date > new-$$.txt; {sys.executable} bench.py"
    made = against(plain, "value = 2", command, setup="touch built; echo 2 >> results.txt")
    assert made.failure is None
    assert len(made.runs) == 16
    made = against(
        plain,
        "open('results.txt', 'w').write('mine')",
        setup=f"{sys.executable} -c 'import code_under_test'",
    )
    assert "what its patch does not: results.txt" in str(made.failure_detail)


def test_processes_that_leave_their_session_end_before_the_next_run(
    plain: Path, tmp_path: Path
) -> None:
    """A run that finds the daemon of the run before it fails."""
    (tmp_path / "daemon.py").write_text(DAEMON)
    command = (
        f"cd {tmp_path}; if [ -s pid ] && kill -0 $(cat pid); then exit 3; fi; rm -f pid; "
        f"{sys.executable} daemon.py pid; until [ -s pid ]; do sleep 0.01; done"
    )
    made = against(plain, "value = 2", command)
    assert (made.failure, len(made.runs)) == (None, 16)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


ANSWER = """import os
with open(f"/proc/{os.getppid()}/fd/1", "w") as answer:
    answer.write('{"code": 0, "seconds": 0.0001}\\n')
"""


@pytest.mark.parametrize(
    "code", ["import os\nos.kill(os.getppid(), 9)", ANSWER], ids=["killed", "answered"]
)
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc")
def test_a_candidate_that_ends_who_watches_it_or_answers_in_its_place_fails(
    plain: Path, code: str
) -> None:
    """It may answer where it is root; elsewhere it cannot, which fails, too."""
    made = against(plain, code, f"exec {sys.executable} bench.py")
    if code == ANSWER and os.geteuid():
        assert "PermissionError" in str(made.failure_detail)
        return
    assert "process that watches it" in str(made.failure_detail)


def test_the_trees_are_alike_and_do_not_know_of_each_other(plain: Path, tmp_path: Path) -> None:
    """Names of equal length: the length of a path alone changes how fast a program runs."""
    against(plain, "value = 2", f"pwd >> {tmp_path}/seen; ls .. >> {tmp_path}/beside")
    seen = {Path(line) for line in (tmp_path / "seen").read_text().splitlines()}
    assert len(seen) == 2
    assert len({len(str(one)) for one in seen}) == len({one.name for one in seen}) == 1
    assert len({one.parent for one in seen}) == 2
    assert set((tmp_path / "beside").read_text().split()) == {"tree"}


def test_the_error_of_the_clone_is_shown(plain: Path, tmp_path: Path) -> None:
    """Not that of the checkout, which cannot work then."""
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    with pytest.raises(UsageError, match="already exists and is not an empty directory"):
        check_out(plain, "HEAD", tmp_path / "taken")


def test_several_benchmarks_of_a_file_are_judged_together_and_each(primes: Path) -> None:
    """The file is that of hyperfine, whose mean and median are the same here."""
    script = primes.with_name("several.py")
    script.write_text(
        "import json, os, sys\nsys.path.insert(0, os.getcwd())\nfrom time import "
        "perf_counter\nfrom primes import primes\nresults = []\nfor below in (6000, "
        "12000):\n    started = perf_counter(); primes(below); took = perf_counter() - "
        "started\n    results.append({'command': str(below), 'mean': took, 'median': took, "
        "'times': [took]})\njson.dump({'results': results}, open(sys.argv[1], 'w'))\n"
    )
    made = measure(
        Subject(primes, "origin/main", "origin/faster"),
        Procedure([sys.executable, str(script), "{out}"], runs=6),
    )
    assert [series.benchmark for series in made.series] == [
        "geometric mean of 2 benchmarks",
        "6000",
        "12000",
    ]
    assert made.series[0].ratio == pytest.approx(
        math.prod(one.ratio or 0 for one in made.series[1:]) ** 0.5
    )
    assert made.series[0].metric == "time"
    assert made.series[0].unit == "ms"


@pytest.mark.parametrize(
    ("procedure", "baseline", "message"),
    [
        (Procedure([]), "origin/main", "no command to measure"),
        (Procedure(["true"]), "never", "has no commit 'never'"),
        (
            Procedure(["false"]),
            "origin/main",
            r"the command failed on the baseline \(exit code 1\)",
        ),
        (Procedure(["no-such-program"]), "origin/main", "cannot start 'no-such-program'"),
        (
            Procedure(["echo", "hello"], regex="took ([0-9]+)", unit="ms"),
            "origin/main",
            "has no number above 0",
        ),
        (Procedure(["echo", "hello"], regex="took", unit="ms"), "origin/main", "has 0 groups"),
        (
            Procedure(["echo", "hello"], regex="(", unit="ms"),
            "origin/main",
            "no regular expression",
        ),
        (
            Procedure(["echo", "7"], regex="(7)", unit="points"),
            "origin/main",
            "whether more points are better is unknown",
        ),
        (Procedure(["echo", "hello"], metric="time"), "origin/main", "is not understood"),
        (Procedure(["echo", "{out}"]), "origin/main", "wrote no file {out}"),
        (
            Procedure(["mkfifo", "{out}"]),
            "origin/main",
            "the file {out} of the baseline cannot be read: it is no regular file",
        ),
        (Procedure(["ln", "-s", "/dev/zero", "{out}"]), "origin/main", "it is no regular file"),
        (Procedure(["truncate", "-s", "3G", "{out}"]), "origin/main", "it is larger than 64 MB"),
        (
            Procedure(
                ["sh", "-c", "echo took 9; head -c 99999999 /dev/zero"], regex="took (9)", unit="ms"
            ),
            "origin/main",
            "no number above 0",
        ),
        (
            Procedure(["sleep", "0.5"], max_minutes=0.05),
            "origin/main",
            r"--max-minutes 0.05 is too short: a run takes",
        ),
        (
            Procedure(["true"], check="sleep 9", max_minutes=0.02),
            "origin/main",
            "is too short: the check of the baseline takes longer",
        ),
        (
            Procedure(["sleep", "9"], max_minutes=0.02),
            "origin/main",
            "is too short: no run of each side ends in it",
        ),
        (
            Procedure(["true"], check="echo broken; exit 3"),
            "origin/main",
            r"the check failed on the baseline \(exit code 3\): broken",
        ),
    ],
)
def test_what_cannot_be_measured_is_said(
    primes: Path, procedure: Procedure, baseline: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        measure(Subject(primes, baseline, "origin/faster"), procedure)


def test_a_patch_that_does_not_apply_is_a_failure_of_the_candidate(primes: Path) -> None:
    patch = b"--- a/primes.py\n+++ b/primes.py\n@@ -1,2 +1,2 @@\n-never\n+there\n was\n"
    made = measure(Subject(primes, "origin/main", patch=patch), Procedure(["true"]))
    assert made.failure == "patch"
    assert "does not apply" in str(made.failure_detail)


def test_rates_are_better_when_higher(primes: Path) -> None:
    """Ten times as many a second is ten times better, and its unit says so."""
    command = ["sh", "-c", "grep -q odd primes.py && echo 1000 req/s || echo 100 req/s"]
    made = measure(
        Subject(primes, "origin/main", "origin/faster"),
        Procedure(command, regex="([0-9]+) req/s", unit="req/s", runs=4),
    )
    [series] = made.series
    assert (series.better, series.verdict) == (Better.HIGHER, MeasureVerdict.FASTER)
    assert series.ratio == pytest.approx(10)


def test_a_time_limit_ends_with_what_there_is(primes: Path) -> None:
    made = measure(
        Subject(primes, "origin/main", "origin/faster"),
        Procedure(["sleep", "0.05"], runs=1000, max_minutes=0.08),
    )
    assert made.ended_by == "time"
    assert made.series[0].verdict in (MeasureVerdict.SAME, MeasureVerdict.INSIDE_NOISE)


def test_a_candidate_that_hangs_is_ended_by_the_limit(primes: Path) -> None:
    command = ["sh", "-c", "grep -q odd primes.py && sleep 60; true"]
    made = measure(
        Subject(primes, "origin/main", "origin/faster"), Procedure(command, max_minutes=0.02)
    )
    assert made.failure == "timeout"


def test_an_interrupt_keeps_what_was_measured_and_the_checkout(
    primes: Path, tmp_path: Path
) -> None:
    """Its processes end, and the repository is as before."""
    before = subprocess.run(
        ["git", "status", "--porcelain", "--ignored"], cwd=primes, check=True, capture_output=True
    ).stdout
    counted = f"echo >> {tmp_path}/runs; sleep 0.011"
    words = [
        sys.executable,
        "-m",
        "app.cli.main",
        "measure",
        *REVISIONS,
        "origin/faster",
        "--runs",
        "400",
        "--",
        "sh",
        "-c",
        counted,
    ]
    with subprocess.Popen(
        words,
        cwd=tmp_path,
        env=conftest.environment(PYTHONPATH=str(ROOT)),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stderr
        for line in process.stderr:
            if line.startswith(b"Up to "):
                break
        while len((tmp_path / "runs").read_text()) < 2 + 4 * (
            decision.NOISE_BLOCKS + 3
        ):  # warm-up, noise, three blocks
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT
    assert b"It was interrupted" in printed, told
    [kept] = (tmp_path / "measured-results").rglob("tachograph-measure.json")
    store = Store(str(tmp_path / "tachograph.duckdb"))
    assert ingest(read_paths([kept]), store).sources[0].known, "it was stored"
    assert (
        subprocess.run(
            ["git", "status", "--porcelain", "--ignored"],
            cwd=primes,
            check=True,
            capture_output=True,
        ).stdout
        == before
    )


def test_repeated_baselines_show_the_noise_of_single_measurements(store: Store) -> None:
    """A ratio of 1.10 of single runs is inside the noise if baselines went from 100 to 125 ms."""

    def csv(variant: str, *values: float) -> Source:
        lines = "".join(f"{variant},time,{value},ms,start-up,box\n" for value in values)
        return Source(
            f"{variant}-{values}.csv",
            f"variant,metric,value,unit,benchmark,machine\n{lines}".encode(),
        )

    def verdict() -> object:
        return fetched(store, "select distinct verdict from v_speedups where base = 'baseline'")

    ingest([csv("baseline", 110.0), csv("candidate", 100.0)], store)
    assert verdict() == [("faster",)]
    ingest([csv("baseline", 100.0), csv("baseline", 125.0)], store)
    assert verdict() == [("inside_noise",)]
