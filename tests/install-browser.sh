#!/usr/bin/env bash
# Makes sure that a Chromium is there for the browser tests: $CHROMIUM, one on the path, or Debian's package.
set -euo pipefail
for browser in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
  if [ -n "$browser" ] && command -v "$browser" >/dev/null; then exit 0; fi
done
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
else
  echo "the browser tests need Chromium: install it, or name it in CHROMIUM" >&2
  exit 1
fi
