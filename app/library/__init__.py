"""What `import tachograph` gives: a store to ask, and answers as Arrow tables. `src/tachograph` is the package that is installed for it."""
