"""Claimed against measured speedups, by agent and run by run."""

from dataclasses import replace

import streamlit as st

from app.charts import registry as charts
from app.charts.speedups import CLASSES
from app.queries import claims as claim_queries
from app.queries import measured as measured_queries
from app.queries import measured as queries
from app.queries import rules
from app.queries.filters import FILTERS, MIN_CONFIDENCE
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text import grids, html_parts
from app.text import speedups as sentences
from app.text.claims import EXAMPLE_TABLE, MEASURED_WITH, band_words, hidden_words
from app.text.formatting import agent_name
from app.text.html_parts import code_span
from app.text.sentences import Doubt
from schemas.catalogue.metrics import MEASURED_CLASSES, QUADRANTS
from schemas.rows.claim import ClaimKind
from schemas.text import plural

LISTED, CLAIMS, SENTENCES = 200, 50, 2_000

QUANTIFIED = (ClaimKind.QUANTIFIED,)
_ROUND = "speedups-round"

filters, measure = filter_bar.chosen(), widgets.cost_in_force()
asked = widgets.question(filters, measure)
rows = asked.rows
total, agents = rows[0], [row for row in rows if not row.is_all and not row.is_model]
quantified, _ = cache.ask(claim_queries.count_claims, filters, QUANTIFIED)
said = sentences.speedups(rows)
if quantified:
    claims = f"{plural(quantified, 'claim')} with a figure"
    address = html_parts.link("speedups", filters, tab="sentences")
    listed = Doubt(claims, "in their sentences", address)
    said = replace(said, doubts=[listed])
widgets.heading(said)


def how_to_measure() -> None:
    """Show how to measure if no run was measured."""
    st.markdown(MEASURED_WITH)
    st.code(EXAMPLE_TABLE, language=None)
    st.code(cache.command("ingest RESULTS"), language=None)


def show_all() -> None:
    """Undo the choice of a segment by drawing its chart anew."""
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def hidden() -> str:
    """Return a note on the number of claims hidden for low confidence."""
    return hidden_words(
        cache.ask(claim_queries.count_hidden, filters),
        f"{FILTERS[MIN_CONFIDENCE].name} 0 (under {filter_bar.MORE})",
    )


def sentences_of_claims() -> None:
    """Show each claim with its sentence; a chosen one opens in its summary."""
    claims = cache.ask(claim_queries.claims, filters, QUANTIFIED, SENTENCES)
    st.caption(" ".join(filter(None, ("Click a row to read the claim in its summary.", hidden()))))
    alt = "Each claim with its ratio, sentence, evidence, caveat and confidence, and its run"
    widgets.run_table(grids.claim_grid(claims), claims, "claims-table", alt, "speedup")


def lists(segment: tuple[str | None, str] | None) -> None:
    """Show the lists of runs, or the runs of a segment."""
    counts = {key: number for key, number in cache.ask(queries.counts, filters).items() if number}
    labels = {key: f"{queries.LISTS[key][0]} {number:,}" for key, number in counts.items()}
    labels |= {"sentences": f"Sentences {quantified:,}"} if quantified else {}
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        horizontal_alignment="distribute",
        key="speedup-tabs",
    ):
        if segment:
            number = next(
                (row.measured[segment[1]] for row in agents if row.agent == segment[0]), 0
            )
            title = (
                f"{agent_name(segment[0])}: {MEASURED_CLASSES[segment[1]]}, {plural(number, 'run')}"
            )
            st.html(f'<h2 class="t-h3">{html_parts.text(title)}</h2>', width="content")
            st.button("All runs", icon=":material/close:", key="speedups-all", on_click=show_all)
            key = "uncompared" if segment[1] in ("breaks", *queries.UNCOMPARED) else "comparable"
        else:
            number = 0
            st.html('<h2 class="t-h3">Runs</h2>', width="content")
            named = st.query_params.get("tab", "")  # a link may be older than its number of runs
            if "tab" not in st.session_state and (
                known := [key for key in labels if named.startswith(labels[key].rpartition(" ")[0])]
            ):
                st.session_state["tab"] = known[0]
            key = widgets.choice("Runs", labels, "tab", label_visibility="collapsed")
    if key == "sentences":
        sentences_of_claims()
        return
    found = cache.ask(
        queries.runs, filters, key, CLAIMS if key == "claims" else LISTED, measure, segment
    )
    found = cache.ask(queries.with_sentences, found) if key == "claims" else found
    st.html(sentences.run_table(found, key, filters))
    number = number or counts[key]
    command = cache.command(
        "claims --format csv" if key == "claims" else "verdicts --every --format csv"
    )
    cut = (
        f"First {len(found):,} of {number:,}. All: {code_span(command)} "
        if number > len(found)
        else ""
    )
    if cut or key in ("moved", "comparable", "pairs"):
        st.caption(cut + (band_words() if key in ("moved", "comparable", "pairs") else ""))


def by_rules() -> None:
    """Show everything measured by the rules of benchmarks, whatever the filters choose."""
    scores, steps = (table.to_pylist() for table in cache.ask(rules.tables))
    if scores:
        with st.expander("By the rules of benchmarks", icon=":material/gavel:"):
            filter_bar.rules_tables(scores, steps)


if not total.claimed.known and not total.runs_measured and not quantified:
    by_rules()
    if words := hidden():
        st.caption(words)
    how_to_measure()
    widgets.end_page()
if total.checked:
    left, right = st.columns([2.05, 1], gap="medium")
    with left:
        widgets.titled(charts.claimed_beside_measured(asked), "speedups-beside")
    with right:
        widgets.titled(charts.claimed_over_measured(asked), "speedups-factors")
        if silent := sentences.unchecked_agents(rows):
            st.html(f'<p class="t-cap">{html_parts.text(silent)}</p>')
else:
    widgets.titled(charts.claims(asked, "What is claimed"), "speedups-claims")
if not total.runs_measured:
    lists(None)
    how_to_measure()
else:
    seen = [(name, MEASURED_CLASSES[name]) for name in CLASSES if total.measured[name]]
    own = [one for one in seen if one[0] not in queries.UNCOMPARED]
    machine = [one for one in seen if one[0] == "machine"]
    others = [one for one in seen if one not in own and one not in machine]
    legend = html_parts.legend(
        ("", own), ("cannot be compared:", others), ("not the agent's doing:", machine)
    )
    st.html(f'<h2 class="t-h3">What became of the measurements</h2>{legend}')
    drawn = charts.measurements(asked)
    points = (
        widgets.plotted(
            drawn, f"speedups-outcomes-{st.session_state.get(_ROUND, 0)}", opens_run=False
        )
        if drawn
        else ()
    )
    lists(tuple(points[0]["customdata"]) if points else None)
    found = cache.ask(measured_queries.totals, filters)
    if found and any(found[key] for key in QUADRANTS):  # only if a benchmark published them
        with st.expander("ISO-Bench quadrants", icon=":material/table:"):
            st.caption(
                "Measured against the reference, and judged by whether the bottleneck is the same."
            )
            labelled = cache.ask(
                measured_queries.summary,
                filters,
                ("repo", "agent", "model"),
                having="runs_labelled",
            )
            widgets.table(
                grids.grid(labelled, grids.QUADRANTS),
                "Runs in each quadrant, by repository, agent and model",
            )
by_rules()
