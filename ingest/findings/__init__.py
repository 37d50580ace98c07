"""Statements of a summary, and rules that compare them with the record.

`summary_facts` reads a summary once and returns both as rows.
"""
