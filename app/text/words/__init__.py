"""Sentences for people, by what they are about."""
