"""The rows of the store: one strict, frozen model per table.

`tables` lists them and makes Arrow tables of them.
"""
