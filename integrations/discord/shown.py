"""How a pick-up match is shown: its teams, what was said of it, and why the teams are as they are."""
import re

import people, texts
from texts import cut, plain

INSTEAD = re.compile(r"with (.+) on team (\d+) instead: chance of team 0 to win ([\d.]+).*")


def result_of(outcome):
    """A result in words."""
    if outcome["outcome"] == "won":
        return texts.TEAM_WON.format(number=outcome["winner"] + 1)
    return {"draw": texts.DRAW, "abandoned": texts.ABANDONED}.get(outcome["outcome"], texts.SAYS_VOID)


def name_of(pickup, player):
    return plain(pickup["names"].get(player, player))


def line_up(pickup, team):
    return ", ".join(name_of(pickup, player["id"]) for player in team["players"])


def percent(chance):
    return round(100 * float(chance))


def is_of_queue(pickup):
    """Whether a queue has formed the teams: then there are no others."""
    return pickup["pickup"].startswith("queue-")


# Why the teams are as they are

def named(pickup, text):
    """A text of the daemon, with names instead of the ids of this pick-up match."""
    return people.named(text, pickup["names"])


def seats(pickup):
    """Each player with the team, counted from 1."""
    return [(player, team) for team, one in enumerate(pickup["picked"]["teams"], 1) for player in one["players"]]


def strengths(pickup):
    """Who is strongest and weakest, and who is new."""
    weighed = [(player["weight"], player["id"], team) for player, team in seats(pickup) if player.get("known")]
    weighed.sort(key=lambda one: -one[0])
    if not weighed:
        return [texts.ALL_NEW]
    lines = []
    if len(weighed) > 2:
        for text, (one, two) in ((texts.STRONGEST, weighed[:2]), (texts.WEAKEST, weighed[:-3:-1])):
            if len(weighed) > 3 or text == texts.STRONGEST:
                (_, first, team), (_, second, other) = one, two
                lines.append(text.format(one=name_of(pickup, first), team=team, two=name_of(pickup, second), other=other))
    new = [texts.PLACED.format(name=name_of(pickup, player["id"]), team=team) for player, team in seats(pickup) if not player.get("known")]
    if new:
        lines.append(texts.NEWCOMERS.format(names=", ".join(new)))
    return lines


def asked(pickup):
    """What became of what people have asked for: friends, wishes."""
    for line in pickup["picked"].get("why") or []:
        for pattern, said in texts.ASKED:
            if found := re.fullmatch(pattern, line):
                parts = [named(pickup, part) for part in found.groups()]
                if "to team" in pattern:
                    parts[1] = f"Team {int(parts[1]) + 1}"
                yield said.format(*(plain(part, 200) for part in parts))


def instead(pickup):
    """What would be if one player alone were on the other team."""
    for line in pickup["picked"].get("why") or []:
        if found := INSTEAD.fullmatch(line):
            name = plain(named(pickup, found[1]))
            yield texts.INSTEAD.format(name=name, team=int(found[2]) + 1, percent=percent(found[3]))


def reasons(pickup):
    """Why the teams are as they are, what matters most to players first."""
    if is_of_queue(pickup):
        return [texts.BY_QUEUE]
    return [*asked(pickup), *strengths(pickup)]


def why(pickup):
    """Everything about why the teams are as they are, line by line."""
    chances = [team.get("chance") for team in pickup["picked"]["teams"]]
    even = [texts.EVEN.format(percent=percent(chances[0]))] if len(chances) == 2 and chances[0] is not None else []
    lines = [*even, *reasons(pickup), *([] if is_of_queue(pickup) else instead(pickup))]
    return cut("\n".join(f"- {line}" for line in lines))


# The match

def head(pickup, heads):
    return heads[pickup["state"]].format(
        ruleset=plain(pickup["ruleset"]),
        place=texts.OTHER.format(number=pickup["place"] + 1) if pickup["place"] else "",
        match=pickup["match"] or "–",
        result=result_of(pickup["result"]) if pickup["result"] else "",
        unrated=texts.UNRATED.format(reason=plain(pickup["reason"])) if pickup["reason"] else "")


def line(number, pickup):
    """A match in one line of a list."""
    names = " – ".join(line_up(pickup, team) for team in pickup["picked"]["teams"])
    names = names if len(names) <= 300 else names[:299] + "…"
    return texts.LINE.format(number=number, head=head(pickup, texts.SHORT_HEADS), names=names)


def match(pickup, question=None):
    """The message about a pick-up match, and what is asked about it."""
    lines = [head(pickup, texts.HEADS)]
    for number, team in enumerate(pickup["picked"]["teams"], 1):
        chance = team.get("chance")
        chance = "" if chance is None else texts.CHANCE.format(percent=percent(chance))
        lines.append(texts.TEAM.format(number=number, chance=chance, names=line_up(pickup, team)))
    if pickup["state"] == "picked":
        lines += [texts.ALSO.format(why=line) for line in reasons(pickup)[:4]]
    if pickup["state"] == "playing":
        for said in pickup["said"]:
            lines.append(texts.SAID.format(who=name_of(pickup, said["by"]), result=result_of(said)))
    question = f"\n{question}" if question else ""
    return cut("\n".join(lines))[: texts.LONGEST - len(question)] + question
