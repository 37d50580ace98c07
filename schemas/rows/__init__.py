"""What we keep: one strict, frozen model per table of the store. `tables` lists them and makes Arrow tables of them."""
