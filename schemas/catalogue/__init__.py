"""Every figure and every grouping, once: key, label, unit, meaning, SQL. Screens, reports, exports and help texts read it."""
