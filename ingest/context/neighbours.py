"""Names of files that say something of measured results beside them.

Of an archive or an upload they are unpacked first: criterion's files name the benchmark of one another, `benchmarks.json` of asv has the
units of its results, its `machine.json` the name of their machine, and `measure.toml` says what people know.
"""

MEASURE_FILE = "measure.toml"

NEIGHBOURS = frozenset((MEASURE_FILE, "benchmark.json", "benchmarks.json", "estimates.json", "machine.json", "sample.json"))
