"""How people see it: command line, dashboard, exports."""
