"""Statements of a summary (`statements/`), and rules that compare them with the record (`rules/`).

`summary_facts` reads a summary once and returns its claims, statements and findings as rows.
"""
