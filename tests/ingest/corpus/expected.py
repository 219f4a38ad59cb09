#!/usr/bin/env python3
"""Writes expected.tsv: the matches of the shared logs, by a reading of its own.

    python3 tests/ingest/corpus/expected.py ../shared/data/logs > tests/ingest/corpus/expected.tsv

This shares no code and no tables with the program. It reads each log as a whole and counts; the small
cases in cases.tsv were written by hand, by what their dozen lines say.
"""

import os
import re
import sys
from calendar import timegm
from collections import defaultdict
from time import strptime

HERE = os.path.dirname(os.path.abspath(__file__))


class Person:
    """One player of one match: seconds on each team, points, kills."""

    def __init__(self):
        self.on = [0.0, 0.0]
        self.points = None
        self.kills = 0
        self.played = False


class Match:
    def __init__(self, kind, world, begin):
        self.kind, self.world, self.begin = kind, world, begin
        self.end = None
        self.scores = []
        self.people = defaultdict(Person)
        self.open = {}  # slot: (id, team, since)

    def move(self, slot, who, team, now):
        """Puts the player in a slot on a team (None: on none) from now on."""
        if slot in self.open:
            old, on, since = self.open.pop(slot)
            self.people[old].on[on] += now - since
            self.people[old].played = True
        if team is not None:
            self.open[slot] = (who, team, now)

    def finish(self, now):
        for slot in list(self.open):
            self.move(slot, None, None, now)
        self.end = now

    def swap(self):
        """The teams exchange sides: what was before follows the people."""
        for person in self.people.values():
            person.on.reverse()

    def lines(self, name):
        if not self.scores:
            winner = "-"
        else:
            best = max(self.scores)
            first = [t for t, s in enumerate(self.scores) if s == best]
            winner = str(first[0]) if len(first) == 1 else "draw"
        scores = ":".join(number(s) for s in self.scores)
        length = int(self.end - self.begin + 1e-6)
        yield "\t".join(["match", name, self.kind, self.world, str(length), scores, winner])
        for who, p in sorted(self.people.items(), key=lambda one: one[0].encode()):
            if p.played:
                points = "-" if p.points is None else number(p.points)
                on = [str(int(seconds + 1e-6)) for seconds in p.on]
                yield "\t".join(["player", who, *on, points, str(p.kills)])


def number(value):
    return f"{value:g}"


# --- id Tech 3

KINDS = {0: "ffa", 1: "duel", 3: "tdm", 4: "ctf"}
URBAN = {0: "ffa", 3: "tdm", 4: "ts", 7: "ctf"}


def pairs(text):
    parts = text.lstrip("\\").split("\\")
    return {k: v for k, v in zip(parts[::2], parts[1::2])}


def plain(name):
    return re.sub(r"\^[0-9A-Za-z]", "", name).strip() or "UnnamedPlayer"


def idtech3(text):
    matches, game, slots = [], None, {}
    shared = shared_guids(text)

    def close():
        if game and game.end is not None and not game.warm and game.done and any(p.played for p in game.people.values()):
            first = getattr(game, "first", None)
            if first and matches and matches[-1] is first:
                # The second half: the people of the first one are on the other side.
                matches.pop()
                for one, person in first.people.items():
                    other = game.people[one]
                    other.on = [other.on[0] + person.on[1], other.on[1] + person.on[0]]
                    other.kills += person.kills
                    other.played |= person.played
                    if person.points is not None:
                        other.points = (other.points or 0) + person.points
                game.scores = [game.scores[0] + first.scores[1], game.scores[1] + first.scores[0]]
                game.begin -= first.end - first.begin
            matches.append(game)

    def begin(info, now, known):
        urban = info.get("gamename", "").startswith("q3u")
        mode = int(re.sub(r"\D", "", info.get("g_gametype", "0")) or 0)
        kind = info.get("gamename", "baseq3") + "." + (URBAN if urban else KINDS).get(mode, f"g{mode}")
        new = Match(kind, info.get("mapname", ""), now)
        new.teams, new.warm, new.known, new.done, new.rounds = mode >= 3, False, known, False, False
        new.strange, new.base, new.first = False, {}, None
        return new

    def who(slot):
        s = slots[slot]
        guid = s.get("id") or s.get("guid")
        if guid and guid.strip("0") and guid not in shared.get(id_of_game, ()):
            return guid
        return plain(s.get("name", ""))

    def team(slot):
        s = slots.get(slot, {})
        if not s.get("begun"):
            return None
        if not game.teams:
            return 0 if s.get("team") != 3 else None
        return {1: 0, 2: 1}.get(s.get("team"))

    def seat(slot, now):
        if game and game.end is None:
            want = team(slot)
            have = game.open.get(slot)
            if (have[1] if have else None) != want or (have and have[0] != who(slot)):
                game.move(slot, who(slot) if want is not None else None, want, now)

    id_of_game, offset, last, totals, half = 0, 0, 0, {}, None
    for line in text.split("\n"):
        line = line.rstrip("\r")
        found = re.match(r"\s*(\d+):(\d\d) (.*)$", line)
        if not found:
            continue
        now = int(found[1]) * 60 + int(found[2])
        if now < last:
            offset += last
            if "InitGame" not in line:
                close()
                game, slots = None, {}
        last, rest = now, found[3]
        now += offset
        verb, _, rest = rest.partition(":")
        rest = rest.strip() if verb != "ClientUserinfoChanged" else rest.lstrip()
        if verb == "InitGame":
            close()
            id_of_game += 1
            game, slots, totals = begin(pairs(rest), now, True), {}, {}
        elif verb == "InitRound":
            info = pairs(rest)
            if game and game.end is None and game.rounds and not game.warm and info.get("g_gametype") in ("4", "5", "8"):
                continue
            old = game
            known = game.known if game else False
            if game and game.end is not None:
                close()
                half = matches[-1] if matches and matches[-1] is game and info.get("g_swaproles") == "1" else None
            first = old.first if old and old.end is None else half
            half = None
            game = begin(info, now, known)
            game.rounds, game.first = True, first
            # A second half whose first one began before the log.
            game.alone = first is None and not known and info.get("g_swaproles") == "1"
            if old and old.end is None:
                game.base = old.base
            elif info.get("g_swaproles") == "1":
                # The second half: players keep their points.
                game.base = dict(totals)
            for slot in slots:
                seat(slot, now)
        elif verb == "ShutdownGame":
            close()
            game = None
        elif verb == "Warmup" and game:
            game.warm = True
        elif verb == "ClientConnect":
            slots.setdefault(int(rest), {})["begun"] = False
            seat(int(rest), now)
        elif verb == "ClientBegin":
            slots.setdefault(int(rest), {})["begun"] = True
            seat(int(rest), now)
        elif verb == "ClientDisconnect":
            slots.setdefault(int(rest), {})["begun"] = False
            seat(int(rest), now)
            slots.pop(int(rest))
            totals.pop(int(rest), None)
        elif verb == "ClientUserinfo":
            slot, info = rest.split(" ", 1)
            slots.setdefault(int(slot), {})["guid"] = pairs(info).get("cl_guid")
            seat(int(slot), now)
        elif verb == "ClientUserinfoChanged":
            slot, info = rest.split(" ", 1)
            info = pairs(info)
            s = slots.setdefault(int(slot), {})
            s["name"], s["id"], s["team"] = info.get("n", ""), info.get("id"), int(info.get("t", 0))
            seat(int(slot), now)
        elif verb == "Kill" and game and game.end is None:
            killer, victim = map(int, rest.split(":")[0].split()[:2])
            for one in (killer, victim):
                if one != 1022 and "team" not in slots.get(one, {}) and not game.known:
                    game.strange = True
            if killer in game.open and killer != victim:
                if not game.teams or game.open[killer][1] != (game.open.get(victim) or (0, None))[1]:
                    game.people[game.open[killer][0]].kills += 1
        elif verb == "Exit" and game:
            game.there = {slot: one[0] for slot, one in game.open.items()}
            game.left = dict(game.there)
            game.finish(now)
            game.done = not game.teams
            if game.strange:
                game.done = False
        elif verb == "red" and game and game.end is not None and not game.scores and game.teams:
            game.scores = [int(x) for x in re.match(r"\s*(-?\d+)\s+blue:\s*(-?\d+)", rest).groups()]
            game.done = not game.strange
        elif verb == "score":
            found = re.match(r"(-?\d+)\s+ping:\s*-?\d+\s+client:\s*(\d+)", rest)
            points, slot = int(found[1]), int(found[2])
            totals[slot] = points
            if game and game.end is not None and slot in game.there:
                one = game.people[game.there.pop(slot)]
                one.points = (one.points or 0) + points - game.base.get(slot, 0)
    close()
    return [match for match in matches if not getattr(match, "alone", False)]


def shared_guids(text):
    """For each InitGame, counted from 1: the guids that several names have on several slots at once."""
    result, game, slots = defaultdict(set), 0, {}
    for line in text.split("\n"):
        rest = re.sub(r"^\s*\d+:\d\d ", "", line)
        verb, _, rest = rest.partition(":")
        rest = rest.strip()
        if verb == "InitGame":
            game, slots = game + 1, {}
        elif verb == "ClientDisconnect":
            slots.pop(int(rest), None)
        elif verb == "ClientUserinfo":
            slot, info = rest.split(" ", 1)
            info = pairs(info)
            guid = info.get("cl_guid")
            slots[int(slot)] = (guid, plain(info.get("name", "")))
            names = {name for other, name in slots.values() if other == guid}
            if guid and guid.strip("0") and len(names) > 1:
                result[game].add(guid)
    return result


# --- Nexuiz

def nexuiz(text):
    matches, game, now, people = [], None, 0, {}
    label, final = 0, False
    for line in text.split("\n"):
        parts = line.split(":")[1:]
        if not parts:
            continue
        verb = parts[0]
        if verb == "time":
            now = timegm(strptime(":".join(parts[1:]), "%Y-%m-%d %H:%M:%S"))
        elif verb == "gamestart":
            kind, world = parts[1].split("_", 1)
            game, people, final = Match("xonotic." + kind, world, now), {}, False
            game.sides = {}
        elif game is None:
            continue
        elif verb == "join":
            people[parts[1]] = ":".join(parts[4:])
        elif verb == "team" and game.end is None:
            side = {"5": 0, "14": 1}.get(parts[2])
            game.move(parts[1], people[parts[1]], side, now)
        elif verb == "part" and game.end is None:
            game.move(parts[1], None, None, now)
        elif verb == "kill" and parts[1] == "frag" and game.end is None:
            game.people[people[parts[2]]].kills += 1
        elif verb == "scores":
            game.finish(now)
            final = True
        elif verb == "labels":
            fields = parts[2].split(",")
            best = [at for at, name in enumerate(fields) if name.endswith("!!")]
            label = best[0] if best else 0
        elif verb == "player" and final:
            game.people[":".join(parts[6:])].points = float(parts[2].split(",")[label])
        elif verb == "teamscores" and final and parts[2]:
            game.sides[{"5": 0, "14": 1}[parts[3]]] = float(parts[2].split(",")[label])
        elif verb == "end" and final:
            game.scores = [game.sides[0], game.sides[1]]
            matches.append(game)
            game, final = None, False
    return matches


# --- UT2004 (OLStats) and UT99 (ngLog): deathmatches

def ut2004(text):
    game, began, people, points = None, None, {}, defaultdict(float)
    for line in text.split("\n"):
        f = line.rstrip("\r").split("\t")
        if len(f) < 2:
            continue
        now, verb = float(f[0]), f[1]
        if verb == "NG":
            kind, world = f[7], f[4]
        elif verb == "C":
            human = re.fullmatch("[0-9a-f]{32}", f[3])
            people[f[2]] = {"id": f[3], "bot": not human}
            if game:
                game.move(f[2], f[2], 0, now)
        elif verb == "PS":
            people[f[2]]["id"] = f[5]
        elif verb == "BI" and game:
            # A bot is written when it first acts, and was there from the start of play.
            game.move(f[2], f[2], 0, now)
            game.people[f[2]].on[0] = now - began
        elif verb == "SG":
            began = now
            game = Match(kind, world, now)
            for one in people:
                game.move(one, one, 0, now)
        elif verb == "K" and game and f[2] != f[4] and f[2] != "-1":
            game.people[f[2]].kills += 1
        elif verb == "S" and game:
            one = game.people[f[2]]
            one.points = (one.points or 0) + float(f[3])
        elif verb == "D" and game:
            game.move(f[2], None, None, now)
        elif verb == "EG" and f[2] not in ("mapchange", "serverquit"):
            game.finish(now)
            renamed = defaultdict(Person)
            for one, person in game.people.items():
                renamed[people[one]["id"]] = person
            game.people = renamed
            return [game]
    return []


def ut99(text):
    game, kind, world, people, points = None, "", "", {}, {}
    for line in text.split("\n"):
        f = line.rstrip("\r").split("\t")
        if len(f) < 2:
            continue
        now, verb = float(f[0]), f[1]
        f += [""]
        if verb == "map" and f[2] == "Name":
            world = re.sub(r"\.unr$", "", f[3])
        elif verb == "game" and f[2] == "GameClass":
            kind = f[3]
        elif (verb, f[2]) == ("game", "realstart") or verb == "game_start":
            game = Match(kind, world, now)
            for one in people:
                game.move(one, one, 0, now)
        elif verb == "player" and f[2] in ("Connect", "Rename"):
            new = f[4] not in people
            people[f[4]] = f[3]
            if new and game and game.end is None:
                game.move(f[4], f[4], 0, now)
        elif verb == "player" and f[2] == "Disconnect" and game and game.end is None:
            game.move(f[3], None, None, now)
        elif verb == "kill" and game and game.end is None and f[2] != f[4]:
            game.people[f[2]].kills += 1
        elif verb == "game_end" and game:
            game.finish(now)
        elif verb == "stat_player" and f[2] == "score":
            points[f[3]] = float(f[4])
    if not game or game.end is None:
        return []
    renamed = defaultdict(Person)
    for one, person in game.people.items():
        person.points = points.get(one)
        renamed[people[one]] = person
    game.people = renamed
    return [game]


# --- Source and GoldSrc

PLAYER = r'"(.*?)<(\d+)><([^<>]*)>(?:<([^<>]*)>)?"'
SIDES = {"Red": 0, "Blue": 1, "TERRORIST": 0, "CT": 1}


def half_times(text):
    """The seconds in which players of both sides change to the other one, four at least."""
    found = defaultdict(dict)
    for line in text.split("\n"):
        stamp = re.match(r"L (\d\d/\d\d/\d{4} - \d\d:\d\d:\d\d): ", line)
        crossing = re.search(r'"(.*?)<\d+><([^<>]*)><(Red|Blue)>" joined team "(Red|Blue)"', line) or re.search(
            r'"(.*?)<\d+><([^<>]*)>" switched from team <(TERRORIST|CT)> to <(TERRORIST|CT)>', line
        )
        if stamp and crossing and crossing[3] != crossing[4]:
            now = timegm(strptime(stamp[1], "%m/%d/%Y - %H:%M:%S"))
            name, auth = crossing[1], crossing[2]
            found[now][name if auth == "BOT" else auth] = crossing[3]
    return {
        now: set(who) for now, who in found.items() if len(who) >= 4 and len(set(who.values())) == 2
    }


def source(text):
    """One game at a time: play begins with Round_Start (or Match_Begins_Now) and ends with its result."""
    matches, game, on, folder, world, seen = [], None, {}, "", "", None
    between, died, finals, totals = False, {}, [], {}
    seen_at, crossings = {}, half_times(text)

    def start(now):
        new = Match("", "", now)
        new.counted, new.between = set(), False
        for who, side in on.items():
            new.move(who, who, side, now)
        return new

    def join(who, side, now, at=None):
        """Joins a side now; leaves the old one then or at an earlier time."""
        if side == on.get(who):
            return
        if side is None:
            on.pop(who, None)
        else:
            on[who] = side
        if game and game.end is None:
            game.move(who, who, side, now if at is None else at)

    def exchange(now, movers):
        """Half-time: who moves is on the other side, who does not has left unnoticed."""
        for who in list(on):
            game.move(who, None, None, now if who in movers else seen_at[who])
        game.swap()
        for who in list(on):
            if who in movers:
                on[who] = 1 - on[who]
                game.move(who, who, on[who], now)
            else:
                del on[who]

    def close():
        nonlocal game
        if game and game.end is not None and len({t for t, _ in finals}) >= 2:
            first = finals[0][0]
            scores = dict(finals)
            if first == 1 and game.cs:
                scores = {0: scores[1], 1: scores[0]}
                game.swap()
            game.scores = [scores[0], scores[1]]
            mode = world.split("_")[0] if "_" in world else seen if not world else None
            kind = folder or ("csgo" if game.cs else "tf")
            game.kind, game.world = kind + (f".{mode}" if mode else ""), world
            matches.append(game)
        game = None
        finals.clear()

    for line in text.split("\n"):
        line = line.rstrip("\r")
        found = re.match(r"L (\d\d/\d\d/\d{4} - \d\d:\d\d:\d\d): (.*)$", line)
        if not found:
            continue
        now, rest = timegm(strptime(found[1], "%m/%d/%Y - %H:%M:%S")), found[2]
        if finals and game and game.end is not None and " final score " not in rest and " scored " not in rest:
            close()
        if rest.startswith("Log file started"):
            close()
            folder = re.split(r"[\\/]", re.search(r'\(game "([^"]*)"\)', rest)[1])[-1].lower()
            on, world, seen = {}, "", None
        elif rest.startswith(("Loading map", "Started map")):
            close()
            world = rest.split('"')[1]
            on = {}
            game = None
        elif rest.startswith("Log file closed"):
            close()
        elif rest.startswith("World triggered"):
            what = rest.split('"')[1]
            if what == "Round_Start" and game and game.end is None and game.between:
                game.between = False
            elif what in ("Round_Start", "Match_Begins_Now"):
                game = start(now)
                game.cs = False
                died = {}
            elif what.startswith("Restart_Round") or what in ("Match_Start", "Game_Commencing"):
                game = None
                if what == "Match_Start":
                    world = rest.split('"')[3]
            elif what in ("Round_Win", "Round_Stalemate", "Round_End", "Mini_Round_Win") and game:
                game.between = True
            elif what == "Game_Over" and game and game.end is None:
                game.finish(now)
        elif rest.startswith("Game Over:") and game:
            a, b = map(float, re.search(r" score (\d+):(\d+)", rest).groups())
            game.finish(now)
            game.cs = True
            finals[:] = [(1, a), (0, b)]
            close()
        elif (found := re.match(r'Team "(\w+)" (final score|scored) "(\d+)"', rest)) and game:
            if found[1] in ("CT", "TERRORIST"):
                continue
            if found[2] == "scored" and game.end is None:
                game.finish(now)
            if game.end is not None:
                finals.append((SIDES[found[1]], float(found[3])))
        elif rest.startswith('Team "') and '"pointcaptured"' in rest and seen is None:
            cp = re.search(r'\(cpname "(#koth|#plr|#pl)?', rest)[1]
            seen = (cp or "#cp")[1:]
        elif rest.startswith('"'):
            found = re.match(PLAYER + r"(?: \[[^\]]*\])?(.*)$", rest)
            if not found:
                continue
            name, uid, auth, side, act = found.groups()
            who = name if auth == "BOT" else auth
            if auth in ("Console", "HLTV"):
                continue
            act = act.strip()
            last_seen, seen_at[who] = seen_at.get(who, now), now
            if now in crossings and who in crossings[now]:
                if game and game.end is None:
                    exchange(now, crossings[now])
                    del crossings[now]
                    continue
            if act.startswith("switched from team"):
                join(who, SIDES.get(re.search(r"to <(\w*)>", act)[1]), now)
            elif act.startswith("joined team"):
                join(who, SIDES.get(act.split('"')[1]), now)
            elif act.startswith("disconnected"):
                join(who, None, now)
            elif act.startswith("connected"):
                # The old connection ended unnoticed; one that is silent for a minute is dropped.
                join(who, None, now, last_seen if now - last_seen > 65 else now)
            elif act.startswith('triggered "flagevent"') and '"captured"' in act:
                seen = "ctf"
            elif not act.startswith(("entered", "money")) and side in SIDES and who not in on:
                # First named here: this player has been there all along.
                on[who] = SIDES[side]
                if game and game.end is None:
                    game.open[who] = (who, SIDES[side], game.begin)
            if act.startswith("killed \"") and game and game.end is None and "feign_death" not in act:
                other = re.match("killed " + PLAYER, act)
                victim = other[1] if other[3] == "BOT" else other[3]
                if victim not in on and other[4] in SIDES:
                    on[victim] = SIDES[other[4]]
                    game.open[victim] = (victim, SIDES[other[4]], game.begin)
                # A log may have a line twice.
                if died.get(victim) != now:
                    died[victim] = now
                    if on.get(who) != on.get(victim) and who in on:
                        game.people[who].kills += 1
            elif act.startswith("committed suicide") and game and now > game.begin:
                died[who] = now
    close()
    return matches


READERS = {
    "openarena": idtech3,
    "quake3": idtech3,
    "nexuiz": nexuiz,
    "ut2004": ut2004,
    "ut99": ut99,
    "source": source,
}


def read(path):
    data = open(path, "rb").read()
    if data[1:2] == b"\0":
        return data.decode("utf-16-le")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def main(folder):
    by_hand = defaultdict(list)
    for line in open(os.path.join(HERE, "cases.tsv")):
        if line.startswith(("match", "none")):
            name = line.split("\t")[1].strip()
        by_hand[name].append(line.rstrip("\n"))
    out = []
    for sub in os.listdir(folder):
        path = os.path.join(folder, sub)
        if not os.path.isdir(path):
            continue
        for file in os.listdir(path):
            if not file.endswith(".log"):
                continue
            name = f"{sub}/{file}"
            if sub == "cases":
                lines = by_hand.get(name, [f"none\t{name}"])
            else:
                found = READERS[sub](read(os.path.join(path, file)))
                lines = [line for match in found for line in match.lines(name)]
            out.append((name, lines or [f"none\t{name}"]))
    for _, lines in sorted(out):
        print("\n".join(lines))


main(sys.argv[1])
