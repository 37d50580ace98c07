"""Sources → rows in the spool, in worker processes that never open the store.

And the sources that need no reading.
"""
