"""The library under test."""
