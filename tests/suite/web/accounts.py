#!/usr/bin/env python3
"""Computes what the pages of players say of their weights again, from the table `performances` alone.

    accounts.py DATABASE ADDRESS RULESET PINNED

Reads the page of each player as JSON from http://ADDRESS, and prints how many agree. PINNED is an identity whose weight an
operator has fixed. Shares no code with Evenkeel.
"""

import http.client
import json
import sqlite3
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

database, address, ruleset, pinned = sys.argv[1:]
MOST_MATCHES, MOST_POINTS, LATEST, LISTED = 300, 200, 12, 20
here = threading.local()


def query(text, values):
    if not hasattr(here, "db"):
        here.db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        here.db.row_factory = sqlite3.Row
    return here.db.execute(text, values).fetchall()


def page(path):
    connection = http.client.HTTPConnection(address)
    connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, (path, answer.status, text)
    return json.loads(text)


def entries(person):
    """What the player's latest matches have entered, the last one first."""
    return query(
        """SELECT f.match_id, f.weight_before, f.weight, f.deviation, f.cause, f.result,
                  strftime('%Y-%m-%dT%H:%M:%SZ', f.ended_ms / 1000, 'unixepoch') AS ended
           FROM performances f JOIN rulings r ON r.match_id = f.match_id
           WHERE f.person = ? AND r.ruleset = ? AND f.weight IS NOT NULL
           ORDER BY f.ended_ms DESC, f.match_id DESC LIMIT ?""",
        [person, ruleset, MOST_MATCHES],
    )


def near(shown, computed):
    return abs(shown - computed) <= 0.0006


def plot(shown, rows, is_pinned):
    """The points are the weights after the matches; of many, some with the first, the last one and the peak."""
    if is_pinned:
        yield "pinned point", shown[-1].get("pinned") is True and shown[-1]["weight"] == 12.5
        shown = shown[:-1]
    rows = rows[::-1]
    own = {(row["ended"], round(row["weight"], 3), round(row["deviation"], 3)) for row in rows}
    yield "points", all((one["at"], one["weight"], one["deviation"]) in own for one in shown)
    yield "number of points", len(shown) == min(len(rows), MOST_POINTS)
    yield "ends of the plot", [shown[0]["at"], shown[-1]["at"]] == [rows[0]["ended"], rows[-1]["ended"]]
    yield "peak of the plot", near(max(one["weight"] for one in shown), max(row["weight"] for row in rows))


def listed(shown, rows, is_pinned):
    """The rows of the matches say what moved the weight or held it."""
    for one, row in zip(shown, rows[:LISTED]):
        yield "match", one["id"] == row["match_id"]
        yield "change", near(one["change"], row["weight"] - row["weight_before"])
        yield "before", near(one["weight_before"], row["weight_before"])
        yield "cause", one["cause"] == row["cause"]
        yield "pinned row", one["pinned"] is is_pinned


def moved(shown, rows):
    """Change and peak, and the sums of the rows."""
    latest = rows[:LATEST]
    change = latest[0]["weight"] - latest[-1]["weight_before"]
    progress = shown["progress"]
    yield "matches", progress["matches"] == len(latest)
    yield "change over the last matches", near(progress["change"], change)
    yield "sum of the changes", near(sum(row["weight"] - row["weight_before"] for row in latest), change)
    peak = max(row["weight"] for row in rows)
    first = [row for row in rows if row["weight"] == peak][-1]
    yield "peak", near(progress["peak"], peak) and progress["peak_match"] == first["match_id"]
    yield "weight", near(shown["standings"][0]["weight"], rows[0]["weight"]) and progress["peak"] >= shown["standings"][0]["weight"]


def checks(person):
    rows = entries(person["person"])
    shown = page(f"/v1/players/{person['handle']}")
    is_pinned = person["player"] == pinned
    yield "still between matches", all(a["weight_before"] == b["weight"] for a, b in zip(rows, rows[1:]))
    for row in rows:
        by = row["weight"] - row["weight_before"]
        yield "direction", row["result"] == 0.5 or by == 0 or (by > 0) == (row["result"] == 1.0)
    yield from plot(shown["standings"][0]["history"], rows, is_pinned)
    yield from listed(shown["games"], rows, is_pinned)
    told = rows[:LISTED]
    said = " ".join(shown["why"][0]["sentences"])
    both = f"was {told[-1]['weight_before']:.1f} before the first of these matches and {told[0]['weight']:.1f} after the last"
    yield "why: the weights", len(told) < 2 or both in said
    held = sum(row["cause"] == "won-held" for row in told)
    yield "why: wins that moved nothing", held == 0 or len(told) < 2 or f"raises it: {held} of " in said
    if is_pinned:
        yield "pinned", shown["pinned"] is True and "progress" not in shown and shown["standings"][0]["weight"] == 12.5
    else:
        yield from moved(shown, rows)


def failed(person):
    return sorted({what for what, holds in checks(person) if not holds})


persons = query("SELECT person, handle, player FROM persons ORDER BY person", [])
with ThreadPoolExecutor(4) as pool:
    found = list(zip(persons, pool.map(failed, persons)))
wrong = [f"{person['player']}: {', '.join(what)}" for person, what in found if what]
for line in wrong[:20]:
    print(line)
print(f"{len(persons) - len(wrong)} of {len(persons)} pages agree")
sys.exit(1 if wrong or len(persons) < 1000 else 0)
