"""How far two sets of measured runs lie apart, and whether that is more than chance. Pure functions over numbers."""
