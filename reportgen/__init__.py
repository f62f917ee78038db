"""Measure kernel ideas against the kernel in use, archive every batch, publish what was found."""

__version__ = "0.1.0"
