"""Units, strict rows, Arrow tables, DDL, and the wire model."""

from __future__ import annotations

import hashlib
import json
import re
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ingest.store.ddl import files, schema_sql
from schemas.catalogue.figures import MODEL_FIGURES, RUN_FIGURES
from schemas.catalogue.metrics import MODEL_METRICS, RUN_METRICS
from schemas.rows.row import LARGEST_USD, usd
from schemas.rows.run import ModelUsageRow
from schemas.rows.source import SourceRow
from schemas.rows.tables import TABLES, WrongValue, arrow_schema, arrow_table
from schemas.store_version import SCHEMA_VERSION
from schemas.wire.claude_code import ModelUsage, ResultRecord
from tests.conftest import ROOT, record, record_text


def test_money_is_rounded_once_to_nanodollars_halves_to_even() -> None:
    assert usd(Decimal("0.8494599499999997")) == Decimal("0.849459950")
    assert usd(Decimal("0.0000000005")) == Decimal("0")
    assert usd(Decimal("0.0000000015")) == Decimal("0.000000002")


@given(st.decimals(min_value=0, max_value=LARGEST_USD, places=9))
def test_money_survives_arrow(amount: Decimal) -> None:
    row = ModelUsageRow(run_id="r", model_id="m", model="m", cost_reported_usd=amount)
    assert arrow_table(ModelUsageRow, [row])["cost_reported_usd"].to_pylist() == [amount]


def test_a_row_takes_its_columns_only() -> None:
    with pytest.raises(TypeError, match="does not take unknown"):
        ModelUsageRow(run_id="r", unknown=1)


@pytest.mark.parametrize(
    "row",
    [
        ModelUsageRow(model="m", model_id="i", output_tokens=2, run_id="r"),
        ModelUsageRow(run_id="r", output_tokens=3).completed(
            {"output_tokens": 2, "model": "m", "model_id": "i"}
        ),
    ],
)
def test_values_stand_in_their_columns_in_whatever_order_they_were_given(
    row: ModelUsageRow,
) -> None:
    [made] = arrow_table(ModelUsageRow, [row]).to_pylist()
    known = {name: value for name, value in made.items() if value is not None}
    assert known == {
        "run_id": "r",
        "model_id": "i",
        "model": "m",
        "output_tokens": 2,
        "tokens_basis": "exact",
    }


@pytest.mark.parametrize(
    "change",
    [
        {"input_tokens": 1.5},
        {"input_tokens": -1},
        {"input_tokens": "3"},
        {"cost_reported_usd": 0.1},
        {"run_id": None},
    ],
)
def test_values_are_checked_on_their_way_to_the_store(change: dict[str, Any]) -> None:
    row = ModelUsageRow(**{"run_id": "r", "model_id": "m", "model": "m"} | change)
    with pytest.raises(WrongValue, match=f"^model_usage.{next(iter(change))}: "):
        arrow_table(ModelUsageRow, [row])


def test_rows_are_frozen() -> None:
    row = ModelUsageRow(run_id="r", model_id="m", model="m")
    with pytest.raises(AttributeError):
        row.run_id = "other"


@pytest.mark.parametrize("table", TABLES)
def test_every_column_has_a_type_and_a_meaning(table: str) -> None:
    for field in arrow_schema(TABLES[table]):
        assert field.metadata[b"comment"].decode().rstrip("…").endswith((".", ", ")), field.name


def test_nullability_follows_the_annotation() -> None:
    schema = arrow_schema(ModelUsageRow)
    assert (schema.field("run_id").nullable, schema.field("model_id").nullable) == (False, True)
    assert schema.field("cost_reported_usd").type == pa.decimal128(18, 9)


def test_the_written_ddl_is_what_the_row_models_and_the_catalogue_say() -> None:
    """`make schema` was run after a change of a row model or a figure of the catalogue."""
    written = {path: (ROOT / "ingest" / "store" / "sql" / path).read_text() for path in files()}
    assert written == files(), "run `make schema`"


def test_other_columns_have_another_version() -> None:
    """Else a store of before is opened, and a query fails for a column that it lacks."""
    tables = re.sub("^--.*", "", schema_sql().partition("create view")[0], flags=re.MULTILINE)
    columns = " ".join((tables, *RUN_FIGURES, *MODEL_FIGURES))
    now = f"{SCHEMA_VERSION} {hashlib.sha256(columns.encode()).hexdigest()}"
    versions = ROOT / "tests" / "expected" / "versions_of_tables.txt"
    *_, last = versions.read_text().splitlines()
    assert last == now, (
        f"The store has other columns than those recorded for version {last.split()[0]}: raise "
        "SCHEMA_VERSION in schemas/store_version.py (unless no release has that version yet), run "
        f"`make schema`, and put into {versions.relative_to(ROOT)} the line: {now}"
    )


def test_the_ddl_makes_the_tables_and_describes_every_column() -> None:
    connection = duckdb.connect()
    connection.execute(schema_sql())
    columns = (
        "select table_name, column_name from duckdb_columns() where not internal and table_name "
        "<> 'v_columns'"
    )
    found = connection.execute(
        f"select * from ({columns}) left join v_columns using (table_name, column_name)"
    ).fetchall()
    wanted = {
        (table, field.name, field.metadata[b"comment"].decode())
        for table, row in TABLES.items()
        for field in arrow_schema(row)
    }
    assert set(found) == wanted
    assert len(arrow_schema(SourceRow)) == 18


@pytest.mark.parametrize(
    "metric", [*RUN_METRICS.values(), *MODEL_METRICS.values()], ids=lambda metric: metric.key
)
def test_metrics_explain_themselves(metric: object) -> None:
    assert metric.meaning.endswith(".")  # type: ignore[attr-defined]
    assert metric.label  # type: ignore[attr-defined]


def test_the_wire_model_reads_old_names_of_the_cost() -> None:
    assert ResultRecord.model_validate_json('{"cost_usd": 0.5}').total_cost_usd == Decimal("0.5")
    assert ResultRecord.model_validate_json(
        '{"cost_usd": 0.5, "total_cost": 1.5}'
    ).total_cost_usd == Decimal("1.5")


def test_the_wire_model_takes_fields_it_does_not_know() -> None:
    assert ResultRecord.model_validate_json(
        record_text(brand_new={"a": 1})
    ) == ResultRecord.model_validate_json(record_text())


def test_the_wire_model_takes_words_it_does_not_know() -> None:
    wire = ResultRecord.model_validate_json(
        record_text(subtype="error_of_tomorrow", terminal_reason="because")
    )
    assert (wire.subtype, wire.terminal_reason) == ("error_of_tomorrow", "because")


def test_what_no_figure_rests_on_refuses_no_record() -> None:
    wire = ResultRecord.model_validate_json(
        record_text(errors="x", ttft_ms="soon", permission_denials=3)
    )
    assert (wire.errors, wire.ttft_ms, wire.permission_denials) == (None, None, None)


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("total_cost_usd", -0.5, "greater than or equal to 0"),
        ("total_cost_usd", "1.5", "number of US dollars"),
        ("total_cost_usd", True, "number of US dollars"),
        ("total_cost_usd", 10**9, "at most 999,999,999.999999999"),
        ("num_turns", "24", "should be a whole number"),
        ("num_turns", 24.5, "should be a whole number"),
        ("num_turns", 2**60, "should be a whole number"),
        ("num_turns", True, "should be a whole number"),
        ("duration_ms", -1, "greater than or equal to 0"),
        ("duration_ms", "long", "valid number"),
        ("is_error", "no", "valid boolean"),
        ("result", {"text": "x"}, "valid string"),
    ],
)
def test_figures_are_checked_at_the_door(field: str, value: object, complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        ResultRecord.model_validate_json(record_text(**{field: value}))


def test_a_whole_float_is_a_count() -> None:
    assert ResultRecord.model_validate_json(record_text(num_turns=24.0)).num_turns == 24


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_no_figure_is_infinite(number: str) -> None:
    with pytest.raises(ValidationError):
        ResultRecord.model_validate_json(
            json.dumps(record(total_cost_usd=1)).replace(
                '"total_cost_usd": 1', f'"total_cost_usd": {number}'
            )
        )


def test_every_field_of_the_wire_model_has_a_meaning() -> None:
    for model in (ResultRecord, ModelUsage):
        assert not [name for name, field in model.model_fields.items() if not field.description]
