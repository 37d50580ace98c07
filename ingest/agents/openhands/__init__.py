"""OpenHands: conversations of its SDK, and lines of its evaluations."""
