#!/usr/bin/env python3
"""Even teams with Python's own library: ./teams.py futsal ann bob cid dan

Prints two teams, asks who won, and reports it. EVENKEEL is the address of the daemon's pages, EVENKEEL_TOKEN the token
of a client with the rights "ask" and "report"."""

import json, os, sys, urllib.error, urllib.request, uuid

DAEMON = os.environ.get("EVENKEEL", "http://127.0.0.1:7998")


def post(path, body, key=None):
    """Sends a request, and returns the answer. The same key makes a repeated request safe."""
    fields = {"Authorization": "Bearer " + os.environ["EVENKEEL_TOKEN"], "Content-Type": "application/json"}
    if key:
        fields["Idempotency-Key"] = key
    request = urllib.request.Request(DAEMON + path, json.dumps(body).encode(), fields)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        sys.exit(json.load(refused)["detail"])


def main(ruleset, *names):
    picked = post("/v1/teams", {"ruleset": ruleset, "players": [{"id": name} for name in names], "keep": True})
    teams = [[player["id"] for player in team["players"]] for team in picked["teams"]]
    for number, names in enumerate(teams):
        print(f"team {number}:", ", ".join(names))
    print(*picked["why"], sep="\n")
    result = {"ruleset": ruleset, "teams": teams, "decision": picked["decision"]}
    result["winner"] = int(input("Which team won? "))
    print("recorded as match", post("/v1/matches", result, str(uuid.uuid4()))["match"])


if __name__ == "__main__":
    main(*sys.argv[1:])
