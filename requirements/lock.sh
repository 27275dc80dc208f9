#!/bin/sh
# Renews the locks: versions, markers and hashes, and no address. Run it from anywhere; needs the uv of `make setup`.
set -eu
cd "$(dirname "$0")"
uv=../.venv/bin/uv
[ -x "$uv" ] || uv=uv
export UV_PYTHON_DOWNLOADS=never
for name in tools run embedded test; do
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
        "$name.in" -o "$name.lock" "$@"
done
