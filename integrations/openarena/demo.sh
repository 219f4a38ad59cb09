#!/usr/bin/env bash
# Evenkeel on a real OpenArena server, end to end: bots of known skill play capture the flag, first on
# random teams, then on teams chosen by Evenkeel through its sidecar and daemon. Prints a table.
#
#   integrations/openarena/demo.sh [--install] [--random N] [--balanced N] [--swap N] [--seed N] [--keep DIR]
#
# --install gets openarena-server from Debian (about 420 MB). All ports are on loopback. The server runs
# as `games` when this is run as root. See `season.py --help` for the rest.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

args=()
for arg in "$@"; do
    if [ "$arg" = --install ]; then
        if ! [ -x /usr/lib/ioquake3/ioq3ded ]; then
            export DEBIAN_FRONTEND=noninteractive
            as_root=$([ "$(id -u)" = 0 ] || echo sudo)
            $as_root apt-get update
            $as_root apt-get install -y --no-install-recommends openarena-server
        fi
    else
        args+=("$arg")
    fi
done

if [ -z "${EVENKEEL_BIN:-}" ]; then
    cargo build --release --locked --manifest-path "$root/Cargo.toml"
    EVENKEEL_BIN=${CARGO_TARGET_DIR:-$root/target}/release/evenkeel
fi
exec python3 "$here/season.py" --evenkeel "$EVENKEEL_BIN" "${args[@]}"
