"""Files that no reader knows → a map that is proposed for them, by names, values and units.

Files with much the same names are of one form. Of the lists in it, those elements are the rows that
have the most fields of a run. What is only near is left to people, and said.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain, islice
from math import log2
from os.path import commonpath, commonprefix
from pathlib import PurePath
from typing import Any, NamedTuple

from ingest.mapped.fields import OUTCOMES, TRUTHS, time, value_of, word_of
from ingest.mapped.found import KnownMap, parse_map
from ingest.mapped.reading import JUDGED, content
from ingest.mapped.rows import FoundRow, RowsFile, database_tables, documents_of, rows_of
from ingest.measurements.words import VARIANTS, is_number, metric_name, quantity
from ingest.sources.decoding import DATABASE_START
from ingest.sources.files import Source, Unreadable
from schemas.agents import AGENTS, agent_key
from schemas.rows.measurement import Variant
from schemas.rows.run import Outcome
from schemas.units import UNITS
from schemas.wire.result_map import (
    MILLISECONDS,
    MapField,
    MappedRun,
    MappedValue,
    ResultMap,
    RowsMap,
)

_MOST_FILES, _MOST_BYTES, _MOST_ROWS, _MOST_FORMS, _MOST_PLACES = 400, 16 << 20, 300, 4, 12
_MOST_NAMES = 4
_ALIKE = 0.6
"""Share of names that documents of one form have in common."""

_UNITS = {
    word: unit
    for unit, milliseconds in MILLISECONDS.items()
    for word, stored in UNITS.items()
    if (stored.unit, stored.factor) == ("ms", milliseconds) and word.isalpha()
}
"""Words for units of time → the unit in a map."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 200


def _is_amount(value: Any) -> bool:
    if isinstance(value, str):
        value = value.strip().removeprefix("$")
        return re.fullmatch(r"\d+(\.\d+)?(e-?\d+)?", value) is not None
    return is_number(value) and value >= 0


def _is_time(value: Any) -> bool:
    try:
        return time(value, MapField(value=0)) is not None
    except ValueError:
        return False


def _is_mark(value: Any) -> bool:
    return _is_amount(value) or str(value).lower() in TRUTHS


def _is_word(value: Any) -> bool:
    return isinstance(value, bool | str) and len(str(value).split()) <= 3


class _Rule(NamedTuple):
    """How a field is called, what its values are, and how much it says that a row is a run."""

    field: str
    names: re.Pattern[str]
    fits: Callable[[Any], bool]
    weight: int


_FITS = {
    "text": _is_text,
    "word": _is_word,
    "amount": _is_amount,
    "time": _is_time,
    "mark": _is_mark,
}
_ID, _UNIT = "(_id|_name|_slug)?", f"_({'|'.join(_UNITS)})"
_NAMES = f"""
agent text 3 (agent|harness){_ID}|cli
model text 3 model{_ID}
effort word 1 (reasoning_)?effort|thinking(_level)?
run_id text 1 run_id|id|uuid|trial_name
session_id text 1 session_id
task text 2 (task|instance|problem|case|scenario){_ID}
repo text 1 repo(sitory)?
base_commit text 1 (base_)?commit
cost amount 5 (?!.*(max|mean|median|upstream|budget|limit)_)(\\w+_)?(cost(_total)?(_usd)?|usd)
credits amount 2 credits
whole_input_tokens amount 2 (total_)?prompt_tokens
input_tokens amount 2 ((n|total)_)?input_tokens|tokens_in|input
output_tokens amount 2 ((n|total)_)?(output|completion)_tokens|tokens_out|output
cache_read_tokens amount 1 (cache_read|cached)((_input)?_tokens)?|n_cache_tokens
cache_write_tokens amount 1 cache_creation(_input)?_tokens|cache_write(_tokens)?
reasoning_tokens amount 1 (reasoning(_output)?|thinking)_tokens
duration amount 2 ((total|agent)_)?((duration|elapsed|runtime)({_UNIT})?
    |(latency|time(_taken)?|wall(_clock|_time)?){_UNIT})|(total|agent){_UNIT}|seconds|secs
turns amount 1 ((n|num|total)_)?turns
started_at time 1 started_at|start_time|timestamp|created_at|date
ended_at time 1 (ended|finished|completed)_at|end_time
outcome word 2 status|outcome|state|stop_reason
score mark 2 passed|resolved|solved|success|correct|pass|reward
    |((normalized|weighted)_)?score|scores?_total
error text 1 error
experiment text 1 (experiment|bench(mark)?|dataset|suite){_ID}
title text 1 title|name|label
"""
"""Field, what fits it, weight, and names. A name stands in rows of at least two public
repositories, or is that of the field.
"""

_RULES = [
    _Rule(field, re.compile(names, re.VERBOSE), _FITS[kind], int(weight))
    for field, kind, weight, names in re.findall(r"^(\w+) (\w+) (\d) (.+(?:\n .+)?)", _NAMES, re.M)
]
_NAMED = {rule.field: rule for rule in _RULES}
_OF_AROUND = ("agent", "model", "effort", "task", "experiment", "repo")
"""Fields that an object around the rows may have for all of them. A cost there is that of all."""

_SPEEDUP = re.compile(r"(?:.*_)?speedup(?:_.*)?")
_JUDGED = re.compile(r"(\w+_)?verdict|suspicious|(reward_)?hack(ed)?")
_FIGURES = frozenset(
    "cost credits input_tokens whole_input_tokens output_tokens turns outcome score "
    "duration".split()
)
"""Fields without any of which a row is no run."""

_ANY = MappedValue(value=MapField(value=0))


@dataclass(frozen=True)
class ProposedForm:
    """A form that some files have. `toml`: its part of the map.

    `doubts`: what people should look at, and what is missing; `unused`: names of other numbers;
    `marks`: what its runs are known by. `paths`: those of all values in a row; `chosen`: the path
    of each field; `again`: the same form with other choices, where "=text" is the text itself.
    """

    toml: str
    form: RowsMap
    files: Sequence[Source]
    rows: int
    weight: int
    marks: Mapping[str, Set[Any]]
    doubts: list[str]
    unused: Sequence[str] = ()
    paths: Sequence[str] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    again: Callable[[dict[str, str]], ProposedForm | None] = lambda _: None


@dataclass
class _Form:
    """Files of one ending whose documents have much the same names; `names`: those of all."""

    names: frozenset[str]
    seen: frozenset[str]
    ending: str
    files: list[Source] = field(default_factory=list)
    read: list[RowsFile] = field(default_factory=list)
    table: str | None = None


def proposed(sources: Sequence[Source], base: str = "") -> list[ProposedForm]:
    """Return what the files may be, the one with the most rows of runs first.

    `base`: the folder of the map. A file that cannot be read is left out.
    """
    forms: list[_Form] = []
    step = max(1, len(sources) // _MOST_FILES)
    for source in sources[::step]:
        try:
            if source.size <= _MOST_BYTES:
                for names, file, table in _looked_at(source):
                    _grouped(forms, names, table, source, file)
        except Exception:  # noqa: S112  a bulkhead: nothing is proposed for one file
            continue
    made: list[ProposedForm] = []
    for form in forms:
        with suppress(Exception):  # a form that no map can be written for
            one = _of_form(form, forms, base, step)
            made += [one] if one and (one.rows > 1 or len(sources) == 1) else []
    made.sort(key=lambda one: (-one.weight, -one.rows))
    kept: list[ProposedForm] = []
    for one in made:
        same = next((other for other in kept if _are_same(one, other)), None)
        if same:
            pattern = ", ".join(one.form.files)
            same.doubts.append(f"{pattern} seems to have the same rows, and is left out")
        else:
            kept.append(one)
    return kept[:_MOST_FORMS]


def _are_same(one: ProposedForm, other: ProposedForm) -> bool:
    """Return whether two forms have runs of the same ids, times, tokens, or models and tasks.

    Files of the same names are no copies.
    """
    ours, theirs = (
        {source.name.rpartition("/")[2] for source in form.files} for form in (one, other)
    )
    return ours != theirs and any(
        2 * len(values & other.marks[kind]) > min(len(values), len(other.marks[kind]))
        for kind, values in one.marks.items()
        if values and other.marks.get(kind)
    )


def _looked_at(source: Source) -> Iterator[tuple[frozenset[str], RowsFile, str | None]]:
    """Yield the names in a file, itself, and the table, of each table of a database."""
    file = RowsFile(source.name, content(source))
    tables: Sequence[str | None] = (None,)
    if file.data.startswith(DATABASE_START):
        tables = [name for name, table in database_tables(file.data).items() if table]
    for table in tables:
        form = RowsMap.model_construct(table=table)
        for document in documents_of(file, form):
            if not isinstance(document, Unreadable):
                value = document[0]
                value = value[0] if isinstance(value, list) and value else value
                if isinstance(value, dict):
                    yield frozenset(value), file, table
                break


def _grouped(
    forms: list[_Form], names: frozenset[str], table: str | None, source: Source, file: RowsFile
) -> None:
    ending = PurePath(source.name).suffix  # a table has the rows of other files again
    for form in forms:
        both = names | form.seen
        is_alike = len(names & form.seen) >= _ALIKE * len(both)
        if is_alike and (form.table, form.ending) == (table, ending):
            break
    else:
        form = _Form(names, names, ending, table=table)
        forms.append(form)
    form.files.append(source)
    form.names &= names
    if len(form.read) < 40 and sum(len(one.data) for one in form.read) <= _MOST_BYTES:
        form.read.append(file)


Leaves = Mapping[str, list[Any]]
"""Path in a row → its values that are not empty. `^`: the name of the row in what encloses it."""


class _Rows(NamedTuple):
    """Some rows of a form, at a path in its documents."""

    each: str | None
    rows: Sequence[FoundRow]
    leaves: Leaves


def _of_form(form: _Form, others: Sequence[_Form], base: str, step: int) -> ProposedForm | None:
    """Return the best choice of rows in the files of a form, or None if none are like runs."""
    best: tuple[float, _Rows, dict[str, str]] | None = None
    places = _places(form)
    for each in places:
        rows = _rows(form, each)
        if not rows:
            continue
        start = f"{each}." if each else ""
        lists = {
            one.removeprefix(start).removesuffix("*").removesuffix(".")
            for one in places
            if one and one != each and one.startswith(start)
        }
        leaves = _leaves(rows, lists)
        chosen = _chosen(leaves, len(rows))
        own = [name for name, path in chosen.items() if path[0] != "^"]
        values = _measured(leaves)
        if not values and (_are_parts(each, leaves, chosen) or not _FIGURES.intersection(own)):
            continue
        weight = sum(_NAMED[name].weight for name in own) + 4 * bool(values)
        more = min(3.0, log2(max(1, len(rows) / len(form.read))))
        if weight >= 5 and (best is None or weight + more > best[0]):
            best = weight + more, _Rows(each, rows, leaves), chosen
    return _written(form, others, base, step, *best[1:]) if best else None


_OF_A_RUN = frozenset("run_id task duration turns outcome score".split())
_MEAN = re.compile(r"(?:.*_)?(?:mean|median|avg|average|rate|p\d\d)(?:_.*)?")


def _are_parts(each: str | None, leaves: Leaves, chosen: Mapping[str, str]) -> bool:
    """Return whether rows are messages of a run, or summaries of several."""
    own = {name for name, path in chosen.items() if not path.startswith("^.")}
    half = max(map(len, leaves.values()), default=0) / 2
    means = [path for path in leaves if len(leaves[path]) >= half and _MEAN.fullmatch(_leaf(path))]
    return len(means) > 1 or (each is not None and not own & _OF_A_RUN)


def _places(form: _Form) -> list[str | None]:
    """Return the paths at which rows may lie: the document, or elements of a list or object."""
    found: dict[str | None, None] = {None: None}
    for file in form.read[:5]:
        for document in documents_of(file, RowsMap.model_construct(table=form.table)):
            if not isinstance(document, Unreadable):
                found |= dict.fromkeys(_lists(document[0], ""))
                break
    return [*found][:_MOST_PLACES]


def _lists(value: Any, path: str, depth: int = 0) -> Iterator[str]:
    if isinstance(value, list) and depth < 9:
        objects = [one for one in value if isinstance(one, dict)]
        if objects and (depth or path):
            yield f"{path}[*]"
        for one in objects[:5]:
            yield from _lists(one, f"{path}[*]", depth + 1)
    if not isinstance(value, dict) or depth > 8:
        return
    inner = [one for one in value.values() if isinstance(one, dict)]
    is_whole = len(inner) == len(value) > 1
    if is_whole and 2 * len(inner[0].keys() & inner[-1].keys()) >= len(inner[0]):
        place = f"{path}.*" if path else "*"
        yield place
        yield from _lists(inner[0], place, depth + 1)
        return
    for name, one in value.items():
        if step := _step(name):
            yield from _lists(one, f"{path}.{step}" if path else step, depth + 1)


def _step(name: str) -> str:
    """Return a name as a step of a path, "" for one that no path has."""
    if not name or name in ("*", "^", "$") or '"' in name:
        return ""
    return name if re.fullmatch(r"[^.\[\]]+", name) else f'"{name}"'


def _rows(form: _Form, each: str | None) -> list[FoundRow]:
    most = max(8, _MOST_ROWS // len(form.read))
    found = (
        islice(rows_of(file, RowsMap.model_construct(table=form.table, each=each)), most)
        for file in form.read
    )
    return [row for row in chain(*found) if isinstance(row, FoundRow) and type(row.value) is dict]


def _leaves(rows: Sequence[FoundRow], lists: Set[str]) -> Leaves:
    """Return the values in rows, but for those of rows that lie in them, and those around."""
    found: dict[str, list[Any]] = defaultdict(list)

    def walk(value: Any, path: str, depth: int) -> None:
        if isinstance(value, dict) and depth < 4 and path not in lists:
            for name, one in value.items():
                if step := _step(name):
                    walk(one, f"{path}.{step}" if path else step, depth + 1)
        elif path and value not in (None, "") and not isinstance(value, dict | list):
            found[path].append(value)

    for row in rows:
        walk(row.value, "", 0)
        around: dict[str, Any] = {}
        for outer, name in row.around:
            around["^"] = None
            if isinstance(outer, dict):
                plain = [key for key, one in outer.items() if not isinstance(one, dict | list)]
                around |= {f"^.{_step(key)}": outer[key] for key in plain if _step(key)}
                around["^"] = name
        for path, value in around.items():
            walk(value, path, 4)
    return found


@lru_cache(1 << 16)
def _leaf(path: str) -> str:
    return metric_name(path.rpartition(".")[2])


def _called(path: str) -> tuple[str, str]:
    """Return the name at a path alone, and with the one above it: `cost`, `usage_cost`."""
    return _leaf(path), f"{_leaf(path.rpartition('.')[0])}_{_leaf(path)}"


def _chosen(leaves: Leaves, rows: int) -> dict[str, str]:
    """Return the path of each field that is found: of several the one that most rows have."""
    chosen = _of_agents(leaves)
    taken = {*chosen.values()}
    for rule in _RULES[len(chosen) :]:
        fitting = [
            (-min(len(values), rows) // max(1, rows // 4), _distance(rule, path), place, path)
            for place, (path, values) in enumerate(leaves.items())
            if path not in taken
            and (path[0] != "^" or rule.field in _OF_AROUND)
            and any(map(rule.names.fullmatch, _called(path)))
            and sum(map(rule.fits, values)) >= 0.9 * len(values)
            and not _is_general(path)
        ]
        if fitting:
            chosen[rule.field] = min(fitting)[3]
            taken.add(chosen[rule.field])
    if len({*leaves.get("^", ())}) > 1:
        chosen.setdefault("task", "^")
    return chosen


def _of_agents(leaves: Leaves) -> dict[str, str]:
    """Return the field whose words are names of known agents, however it is called, or none."""
    shares: dict[tuple[float, bool, int], str] = {}
    for path, values in leaves.items():
        words = {word_of(value) for value in values if _is_word(value)}
        known = sum(agent_key(word) in AGENTS for word in words) / max(1, len(words))
        is_named = _NAMED["agent"].names.fullmatch(_leaf(path)) is not None
        if 3 * known >= 1 and not _NAMED["model"].names.fullmatch(_leaf(path)):
            shares.setdefault((known, is_named, -path.count(".")), path)
    return {"agent": shares[max(shares)]} if shares else {}


def _distance(rule: _Rule, path: str) -> tuple[int, int]:
    """Return how far a name is from the field: what is called so, and what lies less deep first."""
    leaf = _leaf(path)
    word = rule.field.removesuffix("_tokens")
    near = 0 if leaf == rule.field else 1 if word in leaf or "agent" in leaf else 2
    return path.count(".") + (path[0] == "^"), near


def _is_general(path: str) -> bool:
    """Return whether a common name (`input`, `id`) stands where it means something else."""
    leaf, parent = _leaf(path), _leaf(path.rpartition(".")[0])
    if leaf in ("input", "output", "cached", "cache_read", "cache_write"):
        return not re.search("usage|token", parent)
    return bool(re.search("config|setting|param", parent))


def _measured(leaves: Leaves) -> list[dict[str, str]]:
    """Return the fields of measured values: a speedup, or values of two variants."""
    found: list[dict[str, str]] = []
    sides: dict[tuple[str, str], dict[Variant, str]] = defaultdict(dict)
    for path, values in leaves.items():
        if (
            path[0] == "^"
            or sum(map(_is_amount, values)) < 0.9 * len(values)
            or all(isinstance(value, bool) for value in values)
        ):
            continue
        leaf = _leaf(path)
        if _SPEEDUP.fullmatch(leaf):
            is_over = Variant.REFERENCE in map(VARIANTS.get, leaf.split("_"))
            base = "reference" if is_over else "baseline"
            found.append({"value": path, "over": base, "name": leaf})
            continue
        word, _, rest = leaf.partition("_")
        ending = leaf.rpartition("_")[2]
        side = VARIANTS.get(word) or VARIANTS.get(ending)
        if side and quantity(leaf).unit:
            key = rest if word in VARIANTS else leaf.rpartition("_")[0]
            sides[path.rpartition(".")[0], key].setdefault(side, path)
    pairs = [one for one in sides.values() if Variant.CANDIDATE in one and len(one) > 1]
    return [*found, *({"value": one.pop(Variant.CANDIDATE)} | one for one in pairs)]


def _written(
    form: _Form,
    others: Sequence[_Form],
    base: str,
    step: int,
    found: _Rows,
    chosen: dict[str, str],
) -> ProposedForm | None:
    """Return the part of a map for the files of a form, with its doubts.

    None for rows that are neither runs nor measured.
    """
    each, rows, leaves = found
    doubts = list[str]()
    fields = {
        name: _field(name, path, leaves[path], doubts)
        for name, path in chosen.items()
        if path in leaves
    }
    given = {name: path[1:] for name, path in chosen.items() if path.startswith("=")}
    fields |= {name: f"{{ value = {_quoted(text)} }}" for name, text in given.items()}
    measured = _measured(leaves)
    is_named = not fields.keys().isdisjoint(("agent", "model"))
    is_run = is_named and bool(_FIGURES & fields.keys()) and not _are_parts(each, leaves, chosen)
    if not (is_run or measured):
        return None
    _settled(fields, chosen, leaves, rows, doubts)
    if not is_run and fields["agent"].startswith("{"):
        del fields["agent"]
    rest = [one for one in others if one is not form and one.table == form.table]
    names = [source.name for one in rest for source in one.files]
    files = _patterns([source.name for source in form.files], names, base)
    top = {"files": files, "table": form.table, "each": each}
    lines = ["[[rows]]", *(f"{name} = {_quoted(value)}" for name, value in top.items() if value)]
    matched = KnownMap(ResultMap(rows=(RowsMap(files=files, measurement=(_ANY,)),)), "", base)
    caught = [one for one in rest if any(any(matched.forms_for(each.name)) for each in one.files)]
    own = form.names.difference(*(one.names for one in caught))
    filled = sorted(own & leaves.keys(), key=lambda name: (-len(leaves[name]), len(name), name))
    if caught and filled and not each:
        lines.append(f'where = {{ {_quoted(filled[0])} = "*" }}')
    of_run: list[str] = []
    if is_run:
        lines += ["", "[rows.run]"]
        lines += [f"{rule.field} = {fields[rule.field]}" for rule in _RULES if rule.field in fields]
    else:
        of_value = ("task", "agent", "model", "effort", "repo")
        of_run = [f"{name} = {fields[name]}" for name in of_value if name in fields]
    used = set(chosen.values())
    for value in measured:
        name = value.pop("name", "speedup")
        used |= set(value.values())
        lines += ["", "[[rows.measurement]]"]
        lines += [f"{key} = {_quoted(path)}" for key, path in value.items()] + of_run
        if "over" in value and name != "speedup":
            lines.append(f"metric = {{ value = {_quoted(name)} }}")
        if "task" in fields:
            lines.append(f"benchmark = {fields['task']}")
    for path, values in leaves.items():
        no_hacks = TRUTHS if _leaf(path).endswith("verdict") else ()
        hacks = {word_of(value).lower() for value in values} & JUDGED.keys() - {*no_hacks}
        if _JUDGED.fullmatch(_leaf(path)) and hacks and all(map(_is_word, values)):
            used.add(path)
            lines += ["", "[[rows.judgement]]", f"label = {_quoted(path)}"]
            lines += [f"hack = {_quoted(path)}", *of_run]
            break
    toml = "\n".join(lines) + "\n"
    unused = [
        path
        for path, values in leaves.items()
        if path not in used and path[0] != "^" and sum(map(_is_amount, values)) >= 0.9 * len(values)
    ]
    parsed = parse_map("the proposal", toml).rows[0]
    return ProposedForm(
        toml,
        parsed,
        form.files,
        len(rows) * max(1, len(form.files) // len(form.read)) * step,
        sum(_NAMED[name].weight for name in chosen),
        _marks(rows, parsed.run),
        doubts,
        unused,
        list(leaves),
        dict(chosen),
        partial(_written, form, others, base, step, found),
    )


def _marks(rows: Sequence[FoundRow], run: MappedRun | None) -> Mapping[str, Set[Any]]:
    """Return what the runs are known by in several files."""
    if not run:
        return {}

    def values(name: str) -> list[str]:
        field = getattr(run, name)
        field = field[0] if isinstance(field, tuple) and field else field or None
        return [str(value_of(field, row) or "") if field else "" for row in rows]

    whose = values("model" if run.model else "agent")
    pairs = [pair for pair in zip(whose, values("task"), strict=True) if all(pair)]
    single = {name: {*filter(None, values(name))} for name in ("run_id", "started_at")}
    single["output_tokens"] = {count for count in values("output_tokens") if len(count) > 3}
    return single | {"task": {*map(str, pairs)}}


def _field(name: str, path: str, values: Sequence[Any], doubts: list[str]) -> str:
    """Return a field as TOML, with its unit or its choice of words."""
    if path == "^":
        return "{ key = 1 }"
    written = _quoted(path)
    leaf = _leaf(path)
    if name == "duration":
        unit = next((_UNITS[word] for word in leaf.split("_")[::-1] if word in _UNITS), None)
        if not unit:
            unit = "s"
            doubts.append(f"{path} has no unit in its name: taken as seconds")
        return f'{{ path = {written}, unit = "{unit}" }}'
    if name == "outcome":
        words = Counter(map(word_of, values))
        verdicts = _verdicts(words)
        ends = {
            word: Outcome.COMPLETED
            if word in verdicts
            else OUTCOMES.get(word.lower(), Outcome.UNKNOWN)
            for word, _ in words.most_common(12)
        }
        if "completed" in ends and "failed" in ends:
            ends["failed"] = Outcome.EXECUTION_ERROR
        unknown = [word for word, outcome in ends.items() if outcome is Outcome.UNKNOWN]
        if unknown:
            doubts.append(f"{path}: which outcome is {', '.join(unknown)}?")
        listed = ", ".join(f"{_quoted(word)} = {_quoted(one)}" for word, one in ends.items())
        return f'{{ path = {written}, words = {{ {listed}, "*" = "unknown" }} }}'
    return written


def _verdicts(words: Iterable[str]) -> Mapping[str, int]:
    """Return the score of each word for a test's result, if some passed and some failed.

    `failed` beside `completed` is how a run ended, and no result.
    """
    found = {word: TRUTHS[word.lower()] for word in words if word.lower() in TRUTHS}
    return found if len({*found.values()}) > 1 else {}


def _settled(
    fields: dict[str, str],
    chosen: dict[str, str],
    leaves: Leaves,
    rows: Sequence[FoundRow],
    doubts: list[str],
) -> None:
    """Settle what one field says of another, and note what is missing."""
    if chosen.get("run_id") in leaves:
        known: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            facts = [row.at(path) for path in chosen.values() if path in leaves and path != "^"]
            known[word_of(row.at(chosen["run_id"]))].add(repr(facts))
        known.pop("", None)
        if max(map(len, known.values())) > 1 or min(map(len, known)) < 6:
            shared = fields.pop("run_id")
            of_several = "task" if _leaf(chosen["run_id"]) == "id" else "experiment"
            if of_several not in fields and len(known) * 2 <= len(rows):
                fields[of_several] = shared
            doubts.append(f"{chosen['run_id']} is not one of each run: ids are made of the rows")
    if "score" not in fields and chosen.get("outcome") in leaves:
        verdicts = _verdicts(map(word_of, leaves[chosen["outcome"]]))
        if good := sorted(word for word, score in verdicts.items() if score):
            listed = "".join(f"{_quoted(word)} = 1, " for word in good)
            path = _quoted(chosen["outcome"])
            fields["score"] = f'{{ path = {path}, words = {{ {listed}"*" = 0 }} }}'
    if "cache_read_tokens" not in fields:
        doubts += [
            f"{chosen[name]}: without counts of the cache, list prices are a bound"
            for name in ("input_tokens", "whole_input_tokens")
            if name in fields
        ]
    if "input_tokens" in fields:
        fields.pop("whole_input_tokens", None)
    if "agent" not in fields:
        fields["agent"] = '{ value = "unknown" }'
        doubts.append('no field names the agent: write { value = "…" } if all are of one')
    missing = [name for name in ("model", "task", "cost") if name not in fields]
    if missing:
        doubts.append(f"nothing found for {', '.join(missing)}")
        names = [row.file.parts[-2] for row in rows if len(row.file.parts) > 1]
        if "task" in missing and len(set(names)) > 1:
            doubts.append(f"task = {{ folder = 1 }} would be {', '.join(sorted(set(names))[:3])}")


def _patterns(names: Sequence[str], others: Sequence[str], base: str) -> str | list[str]:
    """Return the pattern of the files of a form, or several, from the folder of the map.

    `others`: names of files that the form has not.
    """
    inside = [name.removeprefix(base).lstrip("/") for name in names]
    if len(inside) == 1:
        return f"/{inside[0]}"
    folder = commonpath(["/" + name.rpartition("/")[0] for name in inside]).strip("/")
    is_flat = len({name.rpartition("/")[0] for name in inside}) == 1
    start = "/" + "".join(f"{part}/" for part in (folder, "" if is_flat else "**") if part)
    ends = [name.rpartition("/")[2] for name in inside]
    last = [f"*{PurePath(ends[0]).suffix}"]
    if len({*ends}) <= _MOST_NAMES:
        last = sorted({*ends})
    elif any(name.endswith(last[0][1:]) for name in others):
        begun = re.sub(r"[\d*?\[\]]+$", "", commonprefix(ends))  # noqa: RUF071  characters
        backwards = commonprefix([end[::-1] for end in ends])[::-1]  # noqa: RUF071
        ended = re.sub(r"^[\d*?]+", "", backwards)
        last = [f"{begun}*{ended}"]
    found = [start + one for one in last]
    return found[0] if len(found) == 1 else found


def _quoted(value: str | Sequence[str]) -> str:
    """Return a text, or a list of them, as TOML."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return text.replace("\x7f", "\\u007f")


def map_of(forms: Sequence[ProposedForm], name: str) -> KnownMap:
    """Return the proposed map as it is written."""
    head = (
        "# Proposed by `tachograph map`: look at it, and correct it. docs/map.md has every field.\n"
    )
    parts = []
    for one in forms:
        notes = [f"# {doubt}" for doubt in one.doubts]
        notes += [f"# other numbers: {', '.join(one.unused[:12])}"] if one.unused else []
        parts.append("\n".join([*notes, one.toml]))
    text = f"{head}name = {_quoted(name)}\n\n" + "\n".join(parts)
    return KnownMap(parse_map("the proposal", text), text, "")
