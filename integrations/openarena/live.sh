#!/usr/bin/env bash
# Evenkeel with real clients on a real OpenArena server: players who join, come late, leave, ask in the
# chat and vote. Prints a transcript and what it proves; about a minute.
#
#   integrations/openarena/live.sh [--hosted|--asked] [--install] [--keep DIR]
#
# --hosted shows the agent instead: two matches of a queue in a row on a server that it starts; 3 minutes.
# --asked shows offers: players are asked before one of them is moved, and answer; 2 minutes.
# --install gets openarena, openarena-server and xvfb from Debian (about 600 MB). The clients run without
# a screen. All ports are on loopback. Server and clients run as `games` when this is run as root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

args=()
script=live.py
for arg in "$@"; do
    if [ "$arg" = --hosted ]; then
        script=hosted.py
    elif [ "$arg" = --asked ]; then
        script=asked.py
    elif [ "$arg" = --install ]; then
        if ! [ -x /usr/lib/ioquake3/ioq3ded ] || ! [ -x /usr/lib/ioquake3/ioquake3 ] || ! command -v Xvfb >/dev/null; then
            export DEBIAN_FRONTEND=noninteractive
            as_root=$([ "$(id -u)" = 0 ] || echo sudo)
            $as_root apt-get update >&2
            $as_root apt-get install -y --no-install-recommends openarena openarena-server xvfb >&2
        fi
    else
        args+=("$arg")
    fi
done

if [ -z "${EVENKEEL_BIN:-}" ]; then
    cargo build --release --locked --manifest-path "$root/Cargo.toml"
    EVENKEEL_BIN=${CARGO_TARGET_DIR:-$root/target}/release/evenkeel
fi
exec python3 "$here/$script" --evenkeel "$EVENKEEL_BIN" "${args[@]}"
