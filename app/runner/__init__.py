"""`tachograph run`: starts an agent, passes its streams, signals and exit code through, and records what it left.

`launch` is one run from start to end, and the runs of a matrix; `process` passes through, `limits` ends a run, `changes` asks git.
"""
