"""The charts: Arrow tables in, Plotly figures out. The only place that imports Plotly, and where money becomes a float."""

from app.charts import models, runs
from app.charts.base import CHARTS, Chart
from app.charts.palette import Look, looks

__all__ = ["CHARTS", "Chart", "Look", "looks", "models", "runs"]
