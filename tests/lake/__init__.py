"""Tests of lakes, on a real PostgreSQL and a real object storage.

They run where the extra `lake` is installed: `make lake-test`.
"""
