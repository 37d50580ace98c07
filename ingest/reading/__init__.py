"""Sources → rows in the spool, in worker processes that never open the store; and the sources that need no reading."""
