"""Units as names: conversion factors, never bare powers of ten in running code."""

from __future__ import annotations

NS_PER_US = 1_000
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000
SECONDS_PER_MINUTE = 60
BYTES_PER_KIB = 1024
BYTES_PER_MIB = 1024 * 1024
