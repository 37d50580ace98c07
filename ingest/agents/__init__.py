"""The readers of agents' logs: `readers` has all of them and says which one sees a document; `base` says what a reader is.

This file imports none of them: whoever needs only a type of `base` would wait a third of a second.
"""
