"""Documents → measured rows.

One file per measuring tool; `tools` lists all, `given` has facts that people state about
measurements.
"""
