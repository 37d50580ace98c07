"""Attacks: kills, full disks, crowds of writers, endless and hostile inputs, doors.

What takes minutes is marked thorough: `pytest --hypothesis-profile=thorough tests/attack`.
"""
