"""Formats that carry the values of any benchmark: tables, and those of services that watch benchmarks."""
