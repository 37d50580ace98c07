"""The store's DDL: tables from `schemas.rows.tables`, views from `schemas.catalogue.figures`.

`make schema` writes the files.

The store runs the written files, which are also easy to read; a test compares them with this
module's output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from ingest.store.annotations import LABEL_COLUMNS
from schemas.catalogue.columns import RUNS
from schemas.catalogue.entry import Figure
from schemas.catalogue.failures import ERROR_SQL, TOLD_SQL
from schemas.catalogue.figures import (
    BRANCH_SQL,
    IS_DATED_BY_LABEL,
    MODEL_FIGURES,
    PROJECT_SOURCE_SQL,
    PROJECT_SQL,
    RUN_FIGURES,
    undated,
)
from schemas.rows.tables import TABLES, arrow_schema, comment, is_compressed
from schemas.store_version import SCHEMA_VERSION

_HEADER = f"""\
-- The tables of the store, version {SCHEMA_VERSION}. Written by `make schema` from the row models in schemas/; do not edit.
-- No keys, constraints, sequences or indexes: the store is whatever DuckDB can attach.
"""  # noqa: E501


_RUNS = """\
-- One row per run: the record's figures and those that follow from them, and what people say of it.
{written}
create or replace view v_runs as
with shared as (
    -- the folders that all files of runs have in common: those of the first and the last name
    select length(regexp_extract(first[: len(list_filter(range(1, length(first) + 1), lambda n: first[: n] = last[: n]))], '^.*[/!]'))
        as depth
    from (select min(name) as first, max(name) as last from sources where accepted > 0)
),
only_models as (
    -- of the agents that have one model in the store
    select map_from_entries(list({{'key': agent, 'value': model}})) as of_agent
    from (
        select agent, min(model) as model
        from (select agent, {undated_model} as model from (select distinct agent, model from runs))
        group by agent
        having min(model) = max(model)
    )
)
{outer}select
    runs.* exclude (raw, result, title, labels, place, machine_rates, project, repo_source, {named}) replace (
{times},
        {branch} as branch
    ),
    result,
    -- a label of an annotation takes the place of an ingested one; an empty one hides it
    case
        when coalesce(cardinality(annotations.labels), 0) = 0 then runs.labels
        else map_from_entries(list_filter(
            map_entries(map_concat(runs.labels, annotations.labels)),
            lambda entry: coalesce(annotations.labels[entry.key], entry.key) <> ''
        ))
    end as labels,
{columns_of_labels},
    annotations.note,
    coalesce(annotations.starred, false) as starred,
    coalesce(annotations.excluded, false) as excluded,
    annotations.excluded_reason,
    -- the row number of the run: a short id, valid within one read transaction
    runs.place,
{figures},
    sources.name as source_name,
    sources.received_at,
    sources.ingested_by
from (
    -- what many figures read of one text, worked out once
    select *, runs.rowid as place, {error_text} as error_text, {error_told} as error_told,
        (select machines from price_files) as machine_rates
    from runs
) as runs
left join (
    -- one row per source as it is: grouped, so that DuckDB knows, and leaves the join out of queries that need nothing of it
    select
        source_id, any_value(name) as name, any_value(accepted) as accepted, any_value(received_at) as received_at,
        any_value(ingested_by) as ingested_by
    from sources
    group by source_id
) as sources using (source_id)
-- grouped, too
left join (
    select
        run_id, any_value(state) as state, any_value(reason) as why, any_value(changes) as changes,
        any_value(pull_request) as pull_request, any_value(ticket) as ticket
    from landings
    group by run_id
) as landings on landings.run_id = runs.run_id
left join (
    select run_id, string_agg(distinct pull_request, ', ' order by pull_request) as pull_requests
    from (select run_id, unnest(pull_requests) as pull_request from responses)
    group by run_id
) as opened on opened.run_id = runs.run_id
left join annotations on annotations.run_id = runs.run_id{ended};
"""  # noqa: E501


_TIMES = f"""\
        -- a log may be wrong, a file a copy: the date that somebody gave takes their place
        case when {IS_DATED_BY_LABEL} then given_at else started_at end as started_at,
        case when {IS_DATED_BY_LABEL} then null else ended_at end as ended_at,
        case when {IS_DATED_BY_LABEL} then 'label' else time_source end as time_source"""

_MODEL_ROWS = """\
-- One row per model of a run, with the figures that follow from its own, and one without a model for what the run cost beyond its models:
-- what sums over models are made of, so that they are the sums over runs.
{written}
create or replace view v_model_rows as
select
    model_usage.*,
{figures}
from model_usage
union all by name
select run_id, rest_usd as cost_own_usd, case when cost_delta_usd is not null then -rest_usd end as cost_delta_usd
from (
    select
        run_id, cost_delta_usd, cost_own_usd - coalesce(list_sum(model_costs_usd), 0) - coalesce(nameless_usd, 0) as rest_usd
    from runs
    left join (
        select run_id, sum(cost_own_usd) as nameless_usd from model_usage where model is null group by run_id
    ) as nameless using (run_id)
    where cost_own_usd is not null
)
where abs(rest_usd) > 0.000001;
"""  # noqa: E501

_MEANINGS = """\
-- What each column means. Columns of v_runs and v_model_rows that are not listed are those of runs and model_usage.
create view v_columns as
select * from (values"""  # noqa: E501


_ANNOTATED = (
    *LABEL_COLUMNS,
    "repo_source",
    "labels",
    "note",
    "starred",
    "excluded",
    "excluded_reason",
    "source_name",
    "received_at",
    "ingested_by",
)
"""Columns of `v_runs` that are neither figures nor columns of `runs` alone."""


def files() -> Mapping[str, str]:
    """Return the text of every generated file by its path in the SQL folder."""
    return {
        "schema.sql": schema_sql(),
        "views/v_runs.sql": _view(_RUNS, RUN_FIGURES),
        "views/v_model_rows.sql": _view(_MODEL_ROWS, MODEL_FIGURES),
    }


def _view(sql: str, figures: Mapping[str, Figure]) -> str:
    """Return the SQL of a view."""
    first, *others = _steps(figures)
    dropped = {id(others[-1]): " exclude (error_text, error_told)"} if others else {}
    outer = [
        f"select *{dropped.get(id(step), '')},\n{_listed(step)}\nfrom ("
        for step in reversed(others)
    ]
    parts = {
        "written": "-- Written by `make schema` from schemas/catalogue/figures.py; do not edit.",
        "undated_model": undated("model"),
        "figures": _listed(first),
        "outer": "\n".join([*outer, ""]),
        "ended": "\n)" * len(outer),
    }
    parts |= {"error_text": ERROR_SQL, "error_told": TOLD_SQL, "named": ", ".join(LABEL_COLUMNS)}
    parts |= {"times": _TIMES, "branch": BRANCH_SQL}
    columns = {
        key: f"case when annotations.labels['{key}'] is null then runs.{key} else "
        f"nullif(annotations.labels['{key}'], '') end"
        for key in LABEL_COLUMNS
    } | {"repo": PROJECT_SQL, "repo_source": PROJECT_SOURCE_SQL}
    parts["columns_of_labels"] = ",\n".join(
        f"    {column} as {key}" for key, column in columns.items()
    )
    return sql.format(**parts)


def _steps(figures: Mapping[str, Figure]) -> list[list[Figure]]:
    """Group the figures into steps, each after those it refers to.

    Otherwise DuckDB plans a figure's SQL again for each figure that refers to it.
    """
    steps, left = [], dict(figures)
    while left:
        steps.append(
            [
                one
                for one in left.values()
                if not any(re.search(rf"\b{key}\b", one.sql) for key in left.keys() - {one.key})
            ]
        )
        assert steps[-1], f"figures that name each other: {', '.join(left)}"
        left = {key: one for key, one in left.items() if one not in steps[-1]}
    return steps


def _listed(figures: Iterable[Figure]) -> str:
    return ",\n".join(f"    {figure.sql} as {figure.key}" for figure in figures)


def schema_sql() -> str:
    """Return CREATE TABLE for every table, in the order of TABLES, and the view of columns.

    The view has the meaning of every column.

    The view takes .01 s of the making of a store; a COMMENT for each of the columns takes .11 s, as
    much as a small ingest.
    """
    tables, meanings = [], []
    for name, row in TABLES.items():
        fields = list(arrow_schema(row))
        columns = ",\n".join(
            f'    "{field.name}" {_duckdb_type(field.type)}'
            + ("" if field.nullable else " not null")
            + (" using compression zstd" if is_compressed(field) else "")
            for field in fields
        )
        tables.append(
            f"\n-- {(row.__doc__ or '').partition(chr(10))[0]}\ncreate table {name} "
            f"(\n{columns}\n);\n"
        )
        meanings += [(name, field.name, comment(field)) for field in fields]
    meanings += [
        ("v_runs", key, entry.meaning)
        for key, entry in (RUN_FIGURES | {key: RUNS[key] for key in _ANNOTATED}).items()
    ]
    meanings += [("v_model_rows", key, figure.meaning) for key, figure in MODEL_FIGURES.items()]
    rows = ",\n".join(f"    ({', '.join(map(_literal, row))})" for row in meanings)
    return (
        f"{_HEADER}{''.join(tables)}\n{_MEANINGS}\n{rows}\n) as described(table_name, "
        "column_name, meaning);\n"
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _duckdb_type(type_: pa.DataType) -> str:
    if pa.types.is_decimal(type_):
        return f"decimal({type_.precision}, {type_.scale})"
    if pa.types.is_list(type_):
        return f"{_duckdb_type(type_.value_type)}[]"
    if pa.types.is_map(type_):
        return f"map({_duckdb_type(type_.key_type)}, {_duckdb_type(type_.item_type)})"
    return _SIMPLE_TYPES[type_]


_SIMPLE_TYPES = {
    pa.string(): "varchar",
    pa.bool_(): "boolean",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.date32(): "date",
    pa.timestamp("us", tz="UTC"): "timestamptz",
}


if __name__ == "__main__":
    for path, text in files().items():
        (Path(__file__).parent / "sql" / path).write_text(text)
