"""The readers of agents' logs.

`readers` lists them and picks one for each document; `base` defines their protocol.

This file imports none of them: importing all takes a third of a second, which users of a type in
`base` need not pay.
"""
