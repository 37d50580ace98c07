"""`tachograph run`: starts an agent, passes its streams, signals and exit code through, and records what it left.

`launching` is one run from start to end; `process` and `pseudo_terminal` pass through, `limits` ends a run, `work_tree` asks git,
`sessions` looks for transcripts, `recording` writes the folder of a run, `matrix` makes several runs of one command.
"""
