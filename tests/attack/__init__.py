"""Attacks on Tachograph: kills, full disks, crowds of writers, hostile logs, pages and links.

`python -m tests.attack` runs all of them at full size and prints one table; the tests beside run a
small version of each.

    tally       counts attempts and failures of one attack, keeps the folder of what failed
    lab         what all attacks share: a folder, a seed, the fork server (`tests.forks`)
    hashes      one hash of every table of a store
    logs        logs to ingest
    report      the table
"""
