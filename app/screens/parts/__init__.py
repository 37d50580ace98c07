"""Parts that several screens show: the filter bar, annotations, evidence marks, a session, and small widgets."""
