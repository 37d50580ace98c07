"""What a summary states (`statements/`), and rules that compare it with the record (`rules/`).

`summary_facts` reads a summary once: its claims, statements and findings as rows.
"""
