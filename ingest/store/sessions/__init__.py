"""Sessions: what several records or files of one session come to.

- `chains`: records whose totals continue those of an earlier record
- `responses`: which copy of a response is billed, and to which run
- `folding`: streams whose session has a file that holds them; `growth`: files that have grown since they were read
"""
