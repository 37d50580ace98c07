"""The Python interface: a store to ask, and answers as Arrow tables.

`src/tachograph` is the package that users install.
"""
