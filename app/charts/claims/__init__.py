"""Charts of ratios: what summaries claim (`stated`), what was measured beside it (`measured`), and the marks that both have (`marks`)."""
