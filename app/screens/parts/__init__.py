"""Parts that several screens show.

The filter bar, annotations, evidence marks, a session, and small widgets.
"""
