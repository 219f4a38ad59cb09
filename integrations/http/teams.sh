#!/bin/sh
# Even teams with curl and jq: ./teams.sh futsal ann bob cid dan
# Prints two teams, asks who won, and reports it. EVENKEEL is the address of the daemon's pages, EVENKEEL_TOKEN
# the token of a client with the rights "ask" and "report".
set -eu
daemon=${EVENKEEL:-http://127.0.0.1:7998}
ruleset=$1
shift

# post PATH, with the body on standard input; a refusal is printed and ends the script.
post() {
    curl --silent --show-error --fail-with-body --max-time 10 --data @- \
        --header "Authorization: Bearer $EVENKEEL_TOKEN" --header 'Content-Type: application/json' "$daemon$1"
}

names() { printf '%s\n' "$@" | jq --raw-input '{id: .}' | jq --slurp .; }

answer=$(names "$@" | jq --arg ruleset "$ruleset" '{$ruleset, players: ., keep: true}' | post /v1/teams)
echo "$answer" | jq --raw-output '.teams[] | "\(.players | map(.id) | join(", "))  chance \(.chance // "not known yet")"'

printf 'Who won, 0 for the first team or 1 for the second? '
read -r winner
echo "$answer" | jq --arg ruleset "$ruleset" --argjson winner "$winner" \
    '{$ruleset, $winner, decision, teams: (.teams | map(.players | map(.id)))}' | post /v1/matches
