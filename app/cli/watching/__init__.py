"""`tachograph watch` on the side of the command line: what the process that ingests does, and what is shown of it."""
