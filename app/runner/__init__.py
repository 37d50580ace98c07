"""`tachograph run`: starts an agent, passes its streams and signals on, and records what it left.

Its exit code is passed through too.

`launch` is one run from start to end, and the runs of a matrix; `process` passes through, `limits`
ends a run, `changes` asks git.
"""
