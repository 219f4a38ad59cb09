#!/usr/bin/env bash
# Draws the pictures of pages: `match.png` of the README, from the database that `evenkeel demo --keep` leaves, and
# `teams.png` of the tutorial for a club, after three games.
#
#   docs/images/draw.sh [PROGRAM]        # default: evenkeel
#
# Needs Chromium and curl. Ports 17997 and 17998 on loopback must be free.
set -euo pipefail
cd "$(dirname "$0")"
program=${1:-evenkeel}
site=http://127.0.0.1:17998
folder=$(mktemp -d)
trap 'stop; rm -rf "$folder"' EXIT

start() {
    "$program" serve --dir "$1" --listen 127.0.0.1:17997 --web 127.0.0.1:17998 2>/dev/null &
    daemon=$!
    curl --silent --retry 20 --retry-connrefused --retry-delay 1 --output /dev/null "$site/readyz"
}

stop() {
    kill "$daemon" 2>/dev/null || true
    wait
}

# draw NAME WIDTH,HEIGHT SCALE ADDRESS
draw() {
    chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$folder/chromium" \
        --window-size="$2" --force-device-scale-factor="$3" --screenshot="$folder/$1" "$4" 2>/dev/null
    [ "$(stat --format=%s "$folder/$1")" -lt 200000 ]
    mv "$folder/$1" "$1"
}

"$program" demo --keep "$folder/demo" >/dev/null
start "$folder/demo"
draw match.png 760,888 1 "$site/matches/37"
stop

token=0123456789abcdef0123456789abcdef
mkdir "$folder/club"
cat >"$folder/club/evenkeel.toml" <<END
api.enabled = true
[[clients]]
name = "club"
token = "$token"
rights = ["ask", "report"]
END
start "$folder/club"
record() {
    curl --silent --fail --output /dev/null --header "Authorization: Bearer $token" \
        --json "{\"ruleset\":\"futsal\",\"teams\":[[$1],[$2]],\"winner\":$3}" "$site/v1/matches"
}
record '"ann","bob","cid","dan","eve"' '"fay","gus","hal","ida","jon"' 0
record '"ann","gus","cid","ida","eve"' '"fay","bob","hal","dan","jon"' 0
record '"ann","gus","hal","dan","eve"' '"fay","bob","cid","ida","jon"' 1
sleep 2 # the daemon learns from them
form() { curl --silent --cookie "$folder/jar" --cookie-jar "$folder/jar" --header "Origin: $site" "$@" "$site/teams"; }
form --output /dev/null --data "ruleset=futsal&teams=2&seed=7&place=0&do=in&token=$token"
code=$(form | sed -n 's/.*name="code" value="\([^"]*\)".*/\1/p')
form --data-urlencode 'names=ann, bob, cid, dan, eve, fay, gus, hal, ida, jon' --data-urlencode "code=$code" \
    --data 'ruleset=futsal&teams=2&seed=7&place=0&do=pick' | sed "s|<head>|&<base href=\"$site/\">|" >"$folder/teams.html"
draw teams.png 500,556 1.5 "file://$folder/teams.html"
