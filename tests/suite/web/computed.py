#!/usr/bin/env python3
"""Computes numbers of the statistics pages again, from the tables of the database alone.

    computed.py DATABASE ADDRESS RULESET

Reads pages as JSON from http://ADDRESS, compares, and prints how many numbers agree. Shares no code with Evenkeel. The
ruleset must have the matches of the demo season: two teams, with scores, of bots.
"""

import json
import math
import sqlite3
import sys
import urllib.request
from datetime import datetime, timedelta
from statistics import NormalDist, variance

database, address, ruleset = sys.argv[1:]
db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
db.row_factory = sqlite3.Row
checked, wrong = 0, []


def page(path):
    with urllib.request.urlopen(f"http://{address}{path}") as answer:
        return json.load(answer)


def same(what, shown, computed, within=1e-4):
    global checked
    checked += 1
    near = shown is not None and abs(shown - computed) <= within
    if not near:
        wrong.append(f"{what}: the page has {shown}, the tables {computed}")


MATCHES = db.execute(
    """SELECT m.*, r.chance AS forecast FROM rulings r JOIN matches m ON m.id = r.match_id
       WHERE r.ruleset = ? AND r.unrated IS NULL ORDER BY m.ended_at, m.fingerprint""",
    [ruleset],
).fetchall()


def scores(match):
    return [float(score) for score in match["scores"].split(":")]


def result(match):
    return 0.5 if match["outcome"] == "draw" else 1.0 if match["winner"] == 0 else 0.0


def balance():
    """How even all matches were."""
    shown = page(f"/v1/balance?ruleset={ruleset}")
    gaps = [max(scores(match)) - min(scores(match)) for match in MATCHES]
    won = [match for match in MATCHES if match["outcome"] == "won"]
    favoured = [match for match in won if (match["forecast"] >= 0.5) == (match["winner"] == 0)]
    line = shown["all"]
    same("matches", line["matches"], len(MATCHES))
    same("mean_gap", line["mean_gap"], sum(gaps) / len(gaps))
    same("draws", line["draws"], 1 - len(won) / len(MATCHES))
    same("team_0_won", line["team_0_won"], sum(m["winner"] == 0 for m in won) / len(won))
    same("favourite_won", line["favourite_won"], len(favoured) / len(won))
    brier = [(match["forecast"] - result(match)) ** 2 for match in MATCHES]
    same("brier", line["brier"], sum(brier) / len(brier), 1e-6)
    steps = {}
    for match in MATCHES:
        forecast = match["forecast"]
        favourite = max(forecast, 1 - forecast)
        step = min(9, int((favourite - 0.5) / 0.05 + 1e-9))
        won_by = result(match) if forecast >= 0.5 else 1 - result(match)
        steps.setdefault(step, []).append((favourite, won_by))
    for point, step in zip(shown["calibration"], sorted(steps)):
        own = steps[step]
        same(f"calibration {step} matches", point["matches"], len(own))
        same(f"calibration {step} forecast", point["forecast"], sum(f for f, _ in own) / len(own))
        same(f"calibration {step} won", point["won"], sum(w for _, w in own) / len(own))
    return shown


def causes(shown):
    """What one-sided matches have in common, with the 95 % interval of what each cause explains."""
    earlier, lines = {}, []
    for match in MATCHES:
        seats = db.execute("SELECT person, team FROM performances WHERE match_id = ?", [match["id"]]).fetchall()
        newcomer = min(earlier.get(seat["person"], 0) for seat in seats) < 10
        for seat in seats:
            earlier[seat["person"]] = earlier.get(seat["person"], 0) + 1
        sizes = [sum(seat["team"] == team for seat in seats) for team in (0, 1)]
        told = page(f"/v1/matches/{match['id']}")
        players = told["others"] + [player for team in told["teams"] for player in team["players"]]
        left = any(player["left"] is not None for player in players)
        late = max(player["stays"][0]["from"] for player in players if player["stays"]) > 60000
        own = scores(match)
        gap = max(own) - min(own)
        uneven = sizes[0] != sizes[1]
        lines.append({"gap": gap, "newcomers": newcomer, "uneven-sizes": uneven, "leavers": left, "late-joins": late})
    total = sum(line["gap"] for line in lines)
    for line in shown["causes"]:
        cause = line["cause"]
        split = ([], [])
        for own in lines:
            split[own[cause]].append(own["gap"])
        without, with_it = (sum(gaps) / len(gaps) for gaps in split)
        same(f"{cause} matches", line["matches"], len(split[1]))
        same(f"{cause} gap_with", line["gap_with"], with_it)
        same(f"{cause} gap_without", line["gap_without"], without)
        part = len(split[1]) / total
        same(f"{cause} explains", line["explains"], max(0, part * (with_it - without)))
        reach = 1.959964 * math.sqrt(sum(variance(gaps) / len(gaps) for gaps in split))
        for name, edge in (("low", -reach), ("high", reach)):
            same(f"{cause} {name}", line[f"explains_{name}"], max(0, part * (with_it - without + edge)))
        listed = page(f"/v1/matches?ruleset={ruleset}&cause={cause}")["matches"]
        same(f"{cause} listed", len(listed), min(50, len(split[1])))


def regulars():
    """Who was in most of the latest 100 matches, and the last weights."""
    ids = [match["id"] for match in MATCHES[-100:]]
    marks = ",".join("?" * len(ids))
    for line in page(f"/v1/regulars?ruleset={ruleset}&kind=bot")["regulars"]:
        handle = line["player"]["handle"]
        person = db.execute("SELECT person FROM persons WHERE handle = ?", [handle]).fetchone()[0]
        count = f"SELECT count(*) FROM performances WHERE person = ? AND match_id IN ({marks})"
        same(f"{handle} matches", line["matches"], db.execute(count, [person, *ids]).fetchone()[0])
        last = "SELECT weight FROM performances WHERE person = ? ORDER BY ended_ms DESC LIMIT 1"
        same(f"{handle} weight", line["history"][-1]["weight"], db.execute(last, [person]).fetchone()[0], 1e-3)


def record(handle):
    """What a player has won."""
    shown = page(f"/v1/players/{handle}")["record"]
    rows = db.execute(
        """SELECT f.result FROM performances f JOIN persons p ON p.person = f.person
           WHERE p.handle = ? AND f.result IS NOT NULL""",
        [handle],
    ).fetchall()
    for name, wanted in (("won", 1.0), ("lost", 0.0), ("drawn", 0.5)):
        if name in shown:
            same(f"{handle} {name}", shown[name], sum(row["result"] == wanted for row in rows))


def course():
    """The chance with the score over the time of the last match."""
    matches, squares, lengths = 0.0, 0.0, []
    for match in MATCHES:
        own = scores(match)
        matches, squares = 0.98 * matches + 1, 0.98 * squares + (own[0] - own[1]) ** 2
        began, ended = (datetime.fromisoformat(match[at]) for at in ("started_at", "ended_at"))
        lengths.append((ended - began) / timedelta(milliseconds=1))
    lengths = sorted(lengths[-100:])
    length = lengths[math.ceil(len(lengths) * 0.9) - 1]
    normal = NormalDist()
    for match in MATCHES[-2:]:
        shown = page(f"/v1/matches/{match['id']}")
        before = normal.inv_cdf(min(max(match["forecast"], 0.001), 0.999))
        for at, chance in shown["chance_over_time"][::6]:
            now = [sum(p for t, team, p in shown["events"] if team == own and t <= at) for own in (0, 1)]
            guess = abs(now[0]) + abs(now[1]) + 1
            guess += guess * guess / 16
            sigma = math.sqrt((matches * squares / matches + guess) / (matches + 1))
            left = 1 - min(at / length, 0.98)
            edge = ((now[0] - now[1]) / sigma + left * before) / math.sqrt(left)
            same(f"match {match['id']} at {at}", chance, normal.cdf(edge), 2e-4)


causes(balance())
regulars()
for line in page(f"/v1/regulars?ruleset={ruleset}&kind=bot")["regulars"][:3]:
    record(line["player"]["handle"])
course()
for line in wrong:
    print(line)
print(f"{checked - len(wrong)} of {checked} numbers agree")
sys.exit(1 if wrong or checked < 50 else 0)
