"""Attacks that stay: what a hostile or broken world may do to an ingest, a store, a page."""
