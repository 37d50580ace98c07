"""Documents → measured rows: one file per measuring tool, `tools` with all of them, and `given`: what people say about measurements."""
