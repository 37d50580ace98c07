"""Facts of a run's summary.

- `statements/`: files, commits, artefacts and tests that a summary states
- `rules/`: rules that compare claims and statements with the record, and report findings
- `summary_facts`: reads a summary once, for its claims, statements and findings
"""
