#!/usr/bin/env python3
"""Checks the output of `evenkeel queue match` against the configuration, from scratch.

    checker.py CONFIG.toml QUEUE TICKETS.jsonl MATCHES.jsonl

It shares no code with the program. It prints what it has counted, and each fault; with a fault, the
exit code is 1.
"""
import json
import sys
import tomllib
from collections import Counter


def number(player, of):
    """A player's number of an attribute, or the sum of `a + b`. What is not stated is not known."""
    return sum(player.get(name, 50.0 if name == "@weight" else 0.0) for name in of.split(" + "))


def check_full(rule, match, say):
    for team in match.teams:
        if len(team) != match.size:
            say(f"a team of {len(team)} players, not {match.size}")


def check_spread(rule, match, say):
    groups = match.teams if rule.get("within") == "team" else [match.players]
    for group in groups:
        values = [number(p, rule["of"]) for p in group if not (rule.get("parties") == "exempt" and p["party"] > 1)]
        if values and max(values) - min(values) > match.limit(rule):
            say(f"values from {min(values)} to {max(values)}")


def check_mirror(rule, match, say):
    teams = [Counter(p[rule["of"]] for p in team) for team in match.teams]
    if any(team != teams[0] for team in teams):
        say(f"{teams}")


def check_mirror_parties(rule, match, say):
    teams = []
    for team in match.teams:
        parties = {}
        for p in team:
            parties.setdefault(p["ticket"], []).append(p[rule["of"]])
        teams.append(Counter((len(v), max(v)) for v in parties.values() if len(v) > 1))
    if any(team != teams[0] for team in teams):
        say(f"{teams}")


def check_at_most_each(rule, match, say):
    for team in match.teams:
        counted = [p for p in team if "counted_by" not in rule or p[rule["counted_by"]] >= rule["from"]]
        for value, count in Counter(p[rule["of"]] for p in counted).items():
            if count > match.limit(rule):
                say(f"{count} times {value}")


def check_differ_each(rule, match, say):
    teams = [Counter(p[rule["of"]] for p in team) for team in match.teams]
    for value in {p[rule["of"]] for p in match.players}:
        counts = [team[value] for team in teams]
        if max(counts) - min(counts) > match.limit(rule):
            say(f"{value}: {counts}")


def check_common(rule, match, say):
    shared = set.intersection(*(set(p.get(rule["of"], [])) for p in match.players))
    if not shared:
        say("nothing is shared")
    if "picks" in rule and match.line[rule["picks"]] not in shared:
        say(f"{match.line[rule['picks']]} is not shared")


def check_ceiling(rule, match, say):
    highest = max(p[rule["of"]] for p in match.players)
    lowest = min(p[rule["ceiling"]] for p in match.players)
    if highest > lowest:
        say(f"{highest} is above the ceiling {lowest}")


def check_alike(rule, match, say):
    asked = {p[rule["of"]] for p in match.players if p.get(rule["asked_by"])}
    if asked and {p[rule["of"]] for p in match.players} != asked:
        say(f"only {asked} was asked for")
    if len(asked) > 1:
        say(f"{asked} were asked for")


def check_gap(rule, match, say):
    join = {"sum": sum, "max": max, "mean": lambda v: sum(v) / len(v)}[rule.get("by", "sum")]
    values = [join([p[rule["of"]] for p in team]) for team in match.teams]
    if max(values) - min(values) > match.limit(rule) + 1e-6:
        say(f"{values}")


def check_has(rule, match, say):
    for team in match.teams:
        count = 0
        for p in team:
            own = p.get(rule["of"])
            values = own if isinstance(own, list) else [{True: "true", False: "false"}.get(own, own)]
            count += rule["value"] in values
        if not rule.get("at_least", 0) <= count <= rule.get("at_most", len(team)):
            say(f"{count} players with {rule['value']}")


def check_range(rule, match, say):
    for p in match.players:
        own = number(p, rule["of"])
        if not rule.get("from", own) <= own <= rule.get("to", own):
            say(f"{p['id']} has {own}")


CHECKS = {
    "full": check_full,
    "spread": check_spread,
    "mirror": check_mirror,
    "mirror-parties": check_mirror_parties,
    "at-most-each": check_at_most_each,
    "differ-each": check_differ_each,
    "common": check_common,
    "ceiling": check_ceiling,
    "alike": check_alike,
    "gap": check_gap,
    "has": check_has,
    "range": check_range,
}


class Match:
    def __init__(self, line, tickets, owner):
        self.line = line
        self.teams = [[owner[id] for id in team] for team in line["teams"]]
        self.players = [p for team in self.teams for p in team]
        self.size = len(line["teams"][0])
        self.waited = max(tickets[t]["waited"] for t in line["tickets"])

    def limit(self, rule):
        limit = rule["at_most"]
        for after, relaxed in rule.get("relax", []):
            limit = relaxed if self.waited >= after else limit
        return limit


def read(config, queue, tickets_file):
    settings = tomllib.load(open(config, "rb"))["queue"][queue]
    tickets, owner = {}, {}
    for line in open(tickets_file):
        ticket = json.loads(line)
        ticket.setdefault("waited", 0.0)
        tickets[ticket["ticket"]] = ticket
        for player in ticket["players"]:
            for name, declared in settings.get("attributes", {}).items():
                if "=" in declared and name not in player:
                    player[name] = int(declared.split("=")[1])
            player["ticket"] = ticket["ticket"]
            player["party"] = len(ticket["players"])
            owner[player["id"]] = player
    return settings, tickets, owner


def main():
    config, queue, tickets_file, matches_file = sys.argv[1:]
    settings, tickets, owner = read(config, queue, tickets_file)
    faults, seated, placed, sizes = [], 0, Counter(), Counter()
    for line in map(json.loads, open(matches_file)):
        if "left" in line:
            placed[line["left"]] += 1
            if not line["reason"]:
                faults.append(f"{line['left']}: no reason")
            continue
        match, name = Match(line, tickets, owner), f"match {line['match']}"
        placed.update(line["tickets"])
        seated += len(match.players)
        sizes[match.size] += 1
        if len(match.teams) != settings["teams"]:
            faults.append(f"{name}: {len(match.teams)} teams")
        allowed = [settings["size"]] + [s for a, s in settings.get("smaller", []) if match.waited >= a]
        if match.size not in allowed:
            faults.append(f"{name}: teams of {match.size} after {match.waited} s")
        expected = Counter(p["id"] for t in line["tickets"] for p in tickets[t]["players"])
        if Counter(p["id"] for p in match.players) != expected:
            faults.append(f"{name}: its players are not those of its tickets")
        for ticket in line["tickets"]:
            teams = {at for at, team in enumerate(match.teams) for p in team if p["ticket"] == ticket}
            if len(teams) != 1:
                faults.append(f"{name}: {ticket} is on teams {teams}")
        for rule in [{"name": "full", "rule": "full", "hard": True}] + settings.get("rule", []):
            if rule.get("hard"):
                CHECKS[rule["rule"]](rule, match, lambda why: faults.append(f"{name}: {rule['name']}: {why}"))
    for ticket in tickets:
        if placed[ticket] != 1:
            faults.append(f"{ticket} is {placed[ticket]} times in the output")
    print(f"{sum(sizes.values())} matches by size {dict(sizes)}, {seated} of {len(owner)} players "
          f"({100 * seated / max(1, len(owner)):.2f} %), {len(faults)} faults")
    for fault in faults[:50]:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
