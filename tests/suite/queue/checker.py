#!/usr/bin/env python3
"""Checks the output of `evenkeel queue match` against the configuration, from scratch.

    checker.py CONFIG.toml QUEUE TICKETS.jsonl MATCHES.jsonl

It shares no code with the program. For each match it computes how much each rule is violated: a hard
rule must hold, and what the others cost must be the printed penalty, which `accept` must allow. It
prints what it has counted, and each fault. The exit code is 1 with a fault, and 2 if there is a rule
that it cannot check.
"""
import json
import math
import sys
import tomllib
from collections import Counter

FAR = 1e9  # the number of a map's word that a player does not state
# Numbers are summed in parts of 1/4096, so that sums do not depend on the order.
PART = 1 / 4096


class CannotCheck(Exception):
    """A rule needs what neither the configuration nor the tickets state."""


# Each function returns how much the match violates the rule. A pair has the largest error of that
# number besides, which comes from the rounding of sums.

def full(rule, match):
    size = match.size if rule.get("hard") else match.settings["size"]
    return sum(abs(len(team) - size) for team in match.teams)


def spread(rule, match):
    groups = match.teams if rule.get("within") == "team" else [match.players]
    beyond = 0.0
    for group in groups:
        values = [match.number(p, rule["of"]) for p in group
                  if not (rule.get("parties") == "exempt" and p["party"] > 1)]
        if values:
            beyond += max(0.0, max(values) - min(values) - match.limit(rule))
    return beyond


def apart_counts(teams):
    """For each key that any team has, the difference between the teams' largest and smallest count."""
    keys = set().union(*teams)
    return {key: max(team[key] for team in teams) - min(team[key] for team in teams) for key in keys}


def mirror(rule, match):
    teams = [Counter(match.value(p, rule["of"]) for p in team) for team in match.teams]
    return sum(apart_counts(teams).values())


def mirror_parties(rule, match):
    teams = []
    for team in match.teams:
        parties = {}
        for p in team:
            parties.setdefault(p["ticket"], []).append(match.number(p, rule["of"]))
        teams.append(Counter((len(v), max(v)) for v in parties.values() if len(v) > 1))
    return sum(apart_counts(teams).values())


def at_most_each(rule, match):
    limit, surplus = math.floor(match.limit(rule)), 0
    for team in match.teams:
        counted = [p for p in team
                   if "counted_by" not in rule or match.number(p, rule["counted_by"]) >= rule["from"]]
        counts = Counter(match.value(p, rule["of"]) for p in counted)
        surplus += sum(max(0, count - limit) for count in counts.values())
    return surplus


def at_most_together(rule, match):
    counts = Counter(match.value(p, rule["of"]) for p in match.players)
    counted = [count for value, count in counts.items() if rule.get("value", value) == value]
    return sum(max(0, count - math.floor(match.limit(rule))) for count in counted)


def differ_each(rule, match):
    teams = [Counter(match.value(p, rule["of"]) for p in team) for team in match.teams]
    limit = math.floor(match.limit(rule))
    return sum(max(0, apart - limit) for apart in apart_counts(teams).values())


def common(rule, match):
    sets = [set(match.words(p, rule["of"], rule.get("at_most"))) for p in match.players]
    counts = Counter(word for words in sets for word in words)
    violation = len(sets) - max(counts.values(), default=0)
    if rule.get("hard") and "picks" in rule and not violation:
        picked = match.line.get(rule["picks"])
        if counts[picked] != len(sets):
            raise AssertionError(f"the {rule['picks']} {picked} is not shared")
    return violation


def ceiling(rule, match):
    highest = max(match.number(p, rule["of"]) for p in match.players)
    return max(0.0, highest - min(match.number(p, rule["ceiling"]) for p in match.players))


def alike(rule, match):
    asked = {match.value(p, rule["of"]) for p in match.players if match.number(p, rule["asked_by"]) > 0}
    return sum(any(value != match.value(p, rule["of"]) for value in asked) for p in match.players)


def gap(rule, match):
    by = rule.get("by", "sum")
    join = {"sum": sum, "max": max, "mean": lambda v: sum(v) / len(v)}[by]
    teams = [[match.number(p, rule["of"]) for p in team] for team in match.teams]
    values = [join(team) for team in teams]
    error = PART * (max(map(len, teams)) if by == "sum" else 1)
    return max(0.0, max(values) - min(values) - match.limit(rule)), error


def chance(rule, match):
    """Without a rating system, a team's chance is its share of all numbers."""
    sums = [max(0.0, sum(match.number(p, rule.get("of", "@weight")) for p in team)) for team in match.teams]
    total, even = sum(sums), 1 / len(sums)
    shares = [own / total if total > 0 else even for own in sums]
    error = PART * len(match.players) / total if total > 0 else 0.0
    return max(0.0, max(abs(share - even) for share in shares) - match.limit(rule)), error


def apart(rule, match):
    side, pairs = rule.get("side", "both"), 0
    seats = [(at, p) for at, team in enumerate(match.teams) for p in team]
    for index, (team, one) in enumerate(seats):
        for other_team, other in seats[index + 1:]:
            if one["ticket"] == other["ticket"] or side == "with" and team != other_team \
                    or side == "against" and team == other_team:
                continue
            pairs += other["id"] in match.avoided(one, rule) or one["id"] in match.avoided(other, rule)
    return pairs


def has(rule, match):
    beyond = 0
    for team in match.teams:
        count = sum(rule["value"] in match.texts(p, rule["of"]) for p in team)
        beyond += max(0, rule.get("at_least", 0) - count, count - rule.get("at_most", len(team)))
    return beyond


def number_range(rule, match):
    numbers = {p["id"]: match.number(p, rule["of"]) for p in match.players}
    outside = {id: own for id, own in numbers.items() if not rule.get("from", own) <= own <= rule.get("to", own)}
    if rule.get("hard") and outside:
        raise AssertionError(", ".join(f"{id} has {own}" for id, own in outside.items()))
    return len(outside)


VIOLATIONS = {
    "full": full,
    "spread": spread,
    "mirror": mirror,
    "mirror-parties": mirror_parties,
    "at-most-each": at_most_each,
    "at-most-together": at_most_together,
    "differ-each": differ_each,
    "common": common,
    "ceiling": ceiling,
    "alike": alike,
    "gap": gap,
    "chance": chance,
    "apart": apart,
    "has": has,
    "range": number_range,
}


class Match:
    def __init__(self, line, settings, tickets, owner):
        self.line, self.settings = line, settings
        self.teams = [[owner[id] for id in team] for team in line["teams"]]
        self.players = [p for team in self.teams for p in team]
        self.size = len(line["teams"][0])
        self.waited = max(tickets[t]["waited"] for t in line["tickets"])

    def limit(self, rule):
        limit = rule.get("at_most", 0)
        for after, relaxed in rule.get("relax", []):
            limit = relaxed if self.waited >= after else limit
        return limit

    def value(self, player, name):
        """A player's number or word, as the queue declares it; of `a + b`, the sum."""
        if " + " in name:
            return sum(self.number(player, part) for part in name.split(" + "))
        if name.startswith("@"):
            return float(player.get(name, 50.0 if name == "@weight" else 0.0))
        declared = self.settings.get("attributes", {})
        if name not in declared and "." in name:
            name, word = name.split(".", 1)
            return float(player.get(name, {}).get(word, FAR))
        kind, _, default = (part.strip() for part in declared[name].partition("="))
        own = player.get(name, default or None)
        if kind == "flag":
            return float(own in (True, "true", "yes", "1"))
        if own is None:
            raise CannotCheck(f"{player['id']} has no {name}")
        return float(own) if kind.startswith(("int", "num")) else own

    def number(self, player, name):
        number = self.value(player, name)
        if not isinstance(number, float):
            raise CannotCheck(f"{name} is not a number")
        return number

    def words(self, player, name, at_most=None):
        """A player's set, or the words of a map whose numbers are at most `at_most`."""
        if at_most is not None:
            return [word for word, number in player.get(name, {}).items() if number <= at_most]
        default = self.settings["attributes"][name].partition("=")[2].split()
        own = player.get(name, default)
        return own if isinstance(own, list) else [own]

    def avoided(self, player, rule):
        """The ids of the players whom the rule keeps the player away from."""
        return self.words(player, rule["of"]) if "of" in rule else player.get("@met", [])

    def texts(self, player, name):
        """The player's value as text, or each of a set."""
        declared = self.settings.get("attributes", {}).get(name, "")
        if declared.startswith("set"):
            return self.words(player, name)
        value = self.value(player, name)
        if declared.startswith("flag"):
            return ["true"] if value else ["false"]
        return [f"{value:g}" if isinstance(value, float) else value]

    def faults(self):
        """The faults of the teams, and the penalty with its largest error."""
        faults, penalty, error = [], 0.0, 1e-9
        allowed = [self.settings["size"]]
        allowed += [size for after, size in self.settings.get("smaller", []) if self.waited >= after]
        if len(self.teams) != self.settings["teams"]:
            faults.append(f"{len(self.teams)} teams")
        if any(len(team) != self.size for team in self.teams) or self.size not in allowed:
            faults.append(f"teams of {[len(team) for team in self.teams]} after {self.waited} s")
        for rule in self.settings.get("rule", []):
            if rule["rule"] not in VIOLATIONS:
                raise CannotCheck(f"{rule['name']}: unknown type {rule['rule']}")
            try:
                found = VIOLATIONS[rule["rule"]](rule, self)
            except AssertionError as why:
                faults.append(f"{rule['name']}: {why}")
                continue
            except CannotCheck as why:
                raise CannotCheck(f"{rule['name']}: {why}") from None
            violation, slack = found if isinstance(found, tuple) else (found, 1e-9)
            if rule.get("hard"):
                if violation > slack:
                    faults.append(f"{rule['name']}: violated by {violation}")
                continue
            weight, power = rule.get("weight", 1.0), 2 if rule.get("square") else 1
            penalty += weight * violation ** power
            error += weight * ((violation + slack) ** power - violation ** power)
        return faults + self.price(penalty, error)

    def price(self, penalty, error):
        printed, faults = self.line["penalty"], []
        if abs(printed - penalty) > error + 1e-9 * penalty:
            faults.append(f"penalty {printed} is printed, {penalty} is computed")
        if "accept" in self.settings:
            accept = self.settings["accept"]
            limit = min(accept["max"], accept["start"] + accept["per_second"] * self.waited)
            if printed > limit + 1e-9:
                faults.append(f"penalty {printed} after {self.waited} s, {limit} is accepted")
        return faults


def read(config, queue, tickets_file):
    settings = tomllib.load(open(config, "rb"))["queue"][queue]
    tickets, owner = {}, {}
    for line in open(tickets_file):
        ticket = json.loads(line)
        ticket.setdefault("waited", 0.0)
        tickets[ticket["ticket"]] = ticket
        for player in ticket["players"]:
            player["ticket"] = ticket["ticket"]
            player["party"] = len(ticket["players"])
            owner[player["id"]] = player
    return settings, tickets, owner


def main():
    settings, tickets, owner = read(*sys.argv[1:4])
    faults, seated, placed, sizes, costly = [], 0, Counter(), Counter(), 0
    for line in map(json.loads, open(sys.argv[4])):
        if "left" in line:
            placed[line["left"]] += 1
            if not line["reason"]:
                faults.append(f"{line['left']}: no reason")
            continue
        match, name = Match(line, settings, tickets, owner), f"match {line['match']}"
        placed.update(line["tickets"])
        seated += len(match.players)
        sizes[match.size] += 1
        costly += line["penalty"] > 0
        expected = Counter(p["id"] for t in line["tickets"] for p in tickets[t]["players"])
        if Counter(p["id"] for p in match.players) != expected:
            faults.append(f"{name}: its players are not those of its tickets")
        for ticket in line["tickets"]:
            teams = {at for at, team in enumerate(match.teams) for p in team if p["ticket"] == ticket}
            if len(teams) != 1:
                faults.append(f"{name}: {ticket} is on teams {teams}")
        faults += [f"{name}: {why}" for why in match.faults()]
    for ticket in tickets:
        if placed[ticket] != 1:
            faults.append(f"{ticket} is {placed[ticket]} times in the output")
    print(f"{sum(sizes.values())} matches by size {dict(sizes)}, {costly} with a penalty, {seated} of {len(owner)} "
          f"players ({100 * seated / max(1, len(owner)):.2f} %), {len(faults)} faults")
    for fault in faults[:50]:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    try:
        main()
    except CannotCheck as why:
        print(f"cannot be checked: {why}")
        sys.exit(2)
