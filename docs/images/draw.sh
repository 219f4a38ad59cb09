#!/usr/bin/env bash
# Draws the picture of the README: a page of the database that `evenkeel demo --keep` leaves.
#
#   docs/images/draw.sh [PROGRAM]        # default: evenkeel
#
# Needs Chromium and curl. Ports 17997 and 17998 on loopback must be free.
set -euo pipefail
cd "$(dirname "$0")"
program=${1:-evenkeel}
folder=$(mktemp -d)
trap 'kill "$daemon" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT

"$program" demo --keep "$folder/demo" >/dev/null
"$program" serve --dir "$folder/demo" --listen 127.0.0.1:17997 --web 127.0.0.1:17998 2>/dev/null &
daemon=$!
curl --silent --retry 20 --retry-connrefused --retry-delay 1 --output /dev/null http://127.0.0.1:17998/readyz
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$folder/chromium" \
    --window-size=760,888 --screenshot="$folder/match.png" http://127.0.0.1:17998/matches/37 2>/dev/null
[ "$(stat --format=%s "$folder/match.png")" -lt 200000 ]
mv "$folder/match.png" match.png
