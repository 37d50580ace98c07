"""Which measured gains would hold, and by what to divide a claim."""

import streamlit as st

from app.charts import registry as charts
from app.queries import claims as claim_queries
from app.queries import measured as queries
from app.queries import rules
from app.queries.filters import FILTERS, MIN_CONFIDENCE
from app.screens import cache
from app.screens.parts import filter_bar, judging, widgets
from app.text import grids, html_parts
from app.text import overview as overview_words
from app.text import speedups as sentences
from app.text.claims import EXAMPLE_TABLE, MEASURED_WITH, band_words, hidden_words
from app.text.html_parts import code_span
from schemas.catalogue.metrics import QUADRANTS
from schemas.claims import ClaimKind
from schemas.text import join_known, plural

LISTED, CLAIMS, SENTENCES, MOST_AGAIN = 200, 50, 2_000, 12

QUANTIFIED = (ClaimKind.QUANTIFIED,)

filters, measure = filter_bar.chosen(), widgets.cost_in_force()
asked = widgets.question(filters, measure)
rows = asked.rows
total = rows[0]
quantified, _ = cache.ask(claim_queries.count_claims, filters, QUANTIFIED)


def how_to_measure() -> None:
    """Show how to measure if no run was measured."""
    st.markdown(MEASURED_WITH)
    st.code(EXAMPLE_TABLE, language=None)
    st.code(cache.command("ingest RESULTS"), language=None)


def hidden() -> str:
    """Return a note on the number of claims hidden for low confidence."""
    return hidden_words(
        cache.ask(claim_queries.count_hidden, filters),
        f"{FILTERS[MIN_CONFIDENCE].name} 0 (under {filter_bar.MORE})",
    )


def measure_again() -> None:
    """Show the results to repeat first, and their commands to copy."""
    commands = [sentences.command_of(row, cache.command) for row in again]
    with widgets.side_by_side("bottom", key="again"):
        caption = sentences.AGAIN_CAPTION
        if len(again) > MOST_AGAIN:
            caption += f" The first {MOST_AGAIN} of {len(again):,}."
        widgets.subheading("Measure again first", caption)
        if any(commands):
            with st.popover("Copy", icon=":material/content_copy:"):
                for command in filter(None, commands[:MOST_AGAIN]):
                    st.code(command, language=None, wrap_lines=True)
    st.html(sentences.again_table(again[:MOST_AGAIN], filters, cache.command))


def claimed_and_measured() -> None:
    """Show claims beside measurements, by what to divide a claim, and what became of results."""
    left, right = st.columns([1.45, 1], gap="medium")
    with left:
        if total.checked:
            widgets.titled(charts.claimed_beside_measured(asked), "speedups-beside")
        else:
            widgets.titled(charts.claims(asked, "What is claimed"), "speedups-claims")
    with right:
        if total.checked:
            widgets.subheading("Divide a claim by", "Claimed ÷ measured, median.")
            st.html(sentences.divide_table(cache.ask(queries.checks, filters)).html())
            if silent := sentences.unchecked_agents(rows):
                st.html(f'<p class="t-cap">{html_parts.text(silent)}</p>')
        if total.runs_measured:
            widgets.subheading(f"What became of {plural(total.runs_measured, 'measurement')}")
            st.html(sentences.became_table(rows, filters).html())


def sentences_of_claims() -> None:
    """Show each claim with its sentence; a chosen one opens in its summary."""
    claims = cache.ask(claim_queries.claims, filters, QUANTIFIED, SENTENCES)
    st.caption(join_known(" ", "Click a row to read the claim in its summary.", hidden()))
    alt = "Each claim with its ratio, sentence, evidence, caveat and confidence, and its run"
    widgets.run_table(grids.claim_grid(claims), claims, "claims-table", alt, "speedup")


def lists() -> None:
    """Show the runs of a list."""
    counts = {key: number for key, number in cache.ask(queries.counts, filters).items() if number}
    labels = {key: f"{queries.LISTS[key][0]} {number:,}" for key, number in counts.items()}
    labels |= {"sentences": f"Sentences {quantified:,}"} if quantified else {}
    with widgets.side_by_side(
        horizontal_alignment="distribute",
        key="speedup-tabs",
    ):
        st.html('<h2 class="t-h3">All results</h2>', width="content")
        named = st.query_params.get("tab", "")  # a link may be older than its number of runs
        if "tab" not in st.session_state and (
            known := [key for key in labels if named.startswith(labels[key].rpartition(" ")[0])]
        ):
            st.session_state["tab"] = known[0]
        key = widgets.choice("Runs", labels, "tab", label_visibility="collapsed")
    if key == "sentences":
        sentences_of_claims()
        return
    found = cache.ask(queries.runs, filters, key, CLAIMS if key == "claims" else LISTED, measure)
    found = cache.ask(queries.with_sentences, found) if key == "claims" else found
    st.html(sentences.run_table(found, key, filters))
    command = cache.command(
        "claims --format csv" if key == "claims" else "verdicts --every --format csv"
    )
    cut = (
        f"First {len(found):,} of {counts[key]:,}. All: {code_span(command)} "
        if counts[key] > len(found)
        else ""
    )
    if cut or key in ("moved", "comparable", "pairs"):
        st.caption(cut + (band_words() if key in ("moved", "comparable", "pairs") else ""))


def by_rules() -> None:
    """Show everything measured by the rules of benchmarks, whatever the filters choose."""
    scores, steps = (table.to_pylist() for table in cache.ask(rules.tables))
    if scores:
        filter_bar.rules_tables(scores, steps)
    found = cache.ask(queries.totals, filters)
    if found and any(found[key] for key in QUADRANTS):  # only if a benchmark published them
        widgets.subheading(
            "ISO-Bench quadrants",
            "Measured against the reference, and judged by whether the bottleneck is the same.",
        )
        by = ("repo", "agent", "model")
        labelled = cache.ask(queries.summary, filters, by, having="runs_labelled")
        alt = "Runs in each quadrant, by repository, agent and model"
        widgets.table(grids.grid(labelled, grids.QUADRANTS), alt)


again = cache.ask(queries.to_measure_again, filters) if total.faster > total.beyond_noise else []
studies = judging.studies(filters) if total.runs_measured else []
own = judging.own_rule(studies, measure)
if own:
    widgets.heading(overview_words.overview(rows, measure, own))
else:
    widgets.heading(sentences.speedups(rows, again, filters, quantified))
if studies:
    with widgets.side_by_side(key="t-controls"):
        judging.choose(studies)
if own:
    by_rules()
elif not total.claimed.known and not total.runs_measured and not quantified:
    if words := hidden():
        st.caption(words)
    how_to_measure()
else:
    if again:
        measure_again()
    claimed_and_measured()
    lists()
    if not total.runs_measured:
        how_to_measure()
