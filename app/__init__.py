"""The interfaces: command line, dashboard, exports."""
