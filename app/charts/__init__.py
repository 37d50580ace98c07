"""The charts: rows in, Plotly figures out.

The only place that imports Plotly, and where money becomes a float.
"""
