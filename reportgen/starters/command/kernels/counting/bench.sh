#!/bin/bash
# Asked by REPORTGEN_... variables: warm up, time REPORTGEN_LAUNCHES executions together, print the five fields.
work() { for ((n = 0; n < REPORTGEN_SIZE * $1; n++)); do :; done; }
for ((i = 0; i < REPORTGEN_LEAD_IN; i++)); do work "$1"; done
start=$(date +%s%N)
for ((i = 0; i < REPORTGEN_LAUNCHES; i++)); do work "$1"; done
elapsed=$(($(date +%s%N) - start))
printf '{"arm": "%s", "fixture": "%s", "launches": %d, "elapsed_ns": %d, "check": %d}\n' \
    "$REPORTGEN_ARM" "$REPORTGEN_FIXTURE" "$REPORTGEN_LAUNCHES" "$elapsed" "$REPORTGEN_SIZE"
