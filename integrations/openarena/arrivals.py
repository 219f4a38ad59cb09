#!/usr/bin/env python3
"""A season of bots on a real OpenArena server, in which players come and go in the middle of matches.

    python3 integrations/openarena/arrivals.py --keep FOLDER --matches 400
    evenkeel ingest --db FOLDER/season.db FOLDER/openarena/baseoa/games.log
    evenkeel evaluate --db FOLDER/season.db

40 players of different skill, who play more or less often; the last 14 come during the season. FOLDER/players.json has
their true skill. Needs Debian's openarena-server. A match of six minutes takes eight seconds.
"""

import argparse
import json
import os
import random
import re
import signal
import stat
import sys
import time

from server import FAST, PROGRAM, SLOW, Server

CHARACTERS = ["Sarge", "Grunt", "Tony", "Neko", "Major", "Liz", "Kyonshi", "Ayumi", "Penguin", "Merman", "Rai",
              "Gargoyle", "Jenna", "Beret"]
LEVELS = {"ctf": ["ps37ctf", "am_thornish", "oa_ctf4ish", "ctf_gate1"],
          "tdm": ["oa_dm1", "oa_dm4", "oa_rpg3dm2", "am_galmevish2"]}
# Frags show skill far better than captures: with the same spread of skill, the stronger team would always win.
SPREAD = {"ctf": 1.1, "tdm": 0.35}
PLAYERS, AT_FIRST, MOST_AT_ONCE = 40, 26, 10
CLOCK = re.compile(r"^ *(\d+):(\d\d) ", re.M)
# How long one game may take, in seconds: a tie can go on for ever.
LIMIT = 150


class Piped(Server):
    """The server, with commands through a pipe: unlike those of the remote console, they are not rationed."""

    def command(self):
        return [*super().command(), "+set", "com_pipefile", "pipe"]

    def open(self):
        self.start()
        path = self.files / "pipe"
        until = time.monotonic() + 20
        while not (path.exists() and stat.S_ISFIFO(path.stat().st_mode)):
            if time.monotonic() > until:
                raise TimeoutError("the server has made no pipe")
            time.sleep(0.1)
        self.pipe = os.open(path, os.O_WRONLY)

    def say(self, command):
        os.write(self.pipe, command.encode() + b"\n")


def players(args, rng):
    """Who plays in the season, and from which match on."""
    everybody = []
    for number in range(PLAYERS):
        late = max(0, number - AT_FIRST + 1)
        everybody.append({
            "name": f"P{number:02d}", "character": rng.choice(CHARACTERS), "often": rng.lognormvariate(0, 0.9),
            "skill": round(min(5, max(1, rng.gauss(3, SPREAD[args.kind]))), 2),
            "from": args.matches * late / (PLAYERS - AT_FIRST + 4)})
    return everybody


class Match:
    """One match: who is on which team, and who has left."""

    def __init__(self, args, everybody, number):
        self.args, self.rng = args, random.Random(f"{args.seed}:{number}")
        self.free = [player for player in everybody if player["from"] <= number]
        self.teams = {"red": [], "blue": []}
        # Some matches without a change, some with a few, and some as on a public server.
        kind = self.rng.choices(["none", "few", "many"], [0.35, 0.35, 0.3])[0]
        count = {"none": 0, "few": self.rng.randint(1, 3), "many": self.rng.randint(4, 9)}[kind]
        length = 60 * args.minutes
        self.changes = sorted(self.rng.uniform(0.05 * length, 0.95 * length) for _ in range(count))

    def smaller(self):
        return min(self.teams, key=lambda team: (len(self.teams[team]), self.rng.random()))

    def come(self):
        """The command by which somebody joins the smaller team; none if there is nobody."""
        if not self.free:
            return []
        player = self.rng.choices(self.free, [player["often"] for player in self.free])[0]
        team = self.smaller()
        self.free.remove(player)
        self.teams[team].append(player["name"])
        return [f"addbot {player['character']} {player['skill']} {team} 0 {player['name']}"]

    def go(self, log):
        """The command by which somebody leaves, who does not come back; with --behind, mostly of the team behind."""
        team = self.rng.choice([team for team in self.teams for _ in self.teams[team]])
        red, blue = score(log)
        if self.rng.random() < self.args.behind and red != blue:
            team = "red" if red < blue else "blue"
        if len(self.teams[team]) < 2:
            return []
        name = self.teams[team].pop(self.rng.randrange(len(self.teams[team])))
        return [f"kick {name}"]

    def change(self, log):
        """The commands of one change: somebody comes, or leaves, or is replaced."""
        what = self.rng.choices(["come", "go", "both"], [0.4, 0.3, 0.3])[0]
        here = sum(map(len, self.teams.values()))
        if here >= MOST_AT_ONCE and what == "come":
            what = "go"
        gone = self.go(log) if what != "come" else []
        return gone + (self.come() if what != "go" else [])


def score(log):
    """The score so far."""
    red = blue = 0
    for team, total in re.findall(r"TeamScore: ([12]) (-?\d+):", log):
        red, blue = (int(total), blue) if team == "1" else (red, int(total))
    for flag in re.findall(r"CTF: -?\d+ ([12]) 1:", log):
        red, blue = (red, blue + 1) if flag == "1" else (red + 1, blue)
    return red, blue


def play(server, match):
    """One match, in about eight seconds; whether it has ended."""
    level = match.rng.choice(LEVELS[match.args.kind])
    lines = [line for _ in range(match.rng.randint(6, 8)) for line in match.come()]
    # devmap removes all bots. Nothing waits before it: meanwhile the game that is over would start again.
    start = [SLOW, f"devmap {level}", "wait 5", *lines, "wait 5", FAST, ""]
    server.write("match.cfg", "\n".join(start))
    server.mark()
    server.say("exec match.cfg")
    began = time.monotonic()
    while time.monotonic() < began + LIMIT:
        log = server.news()
        log = log[log.index("InitGame:"):] if "InitGame:" in log else ""
        if " Exit: " in log:
            time.sleep(0.1)
            return True
        clock = CLOCK.findall(log[-4000:])
        while clock and match.changes and match.changes[0] <= 60 * int(clock[-1][0]) + int(clock[-1][1]):
            match.changes.pop(0)
            for command in match.change(log):
                server.say(command)
        time.sleep(0.04)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", required=True, help="the folder for the server, its log and players.json")
    parser.add_argument("--kind", choices=LEVELS, default="ctf", help="capture the flag or team deathmatch")
    parser.add_argument("--matches", type=int, default=400)
    parser.add_argument("--minutes", type=float, default=6, help="the time limit of a match")
    parser.add_argument("--behind", type=float, default=0, help="how often who leaves is of the team behind, 0 to 1")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if not os.access(PROGRAM, os.X_OK):
        sys.exit("openarena-server is not installed; see demo.sh --install")
    os.makedirs(args.keep, exist_ok=True)
    os.chmod(args.keep, 0o755)
    everybody = players(args, random.Random(args.seed))
    server = Piped(args.keep)
    kind = {"ctf": 4, "tdm": 3}[args.kind]
    rules = f"set g_gametype {kind}\nset g_logsync 1\nset g_log games.log\nset bot_enable 1\nset sv_maxclients 16\n"
    limits = f"set capturelimit 0\nset fraglimit 0\nset timelimit {args.minutes:g}\nset g_doWarmup 0\n"
    server.write("boot.cfg", f"set rconpassword {server.password}\n{rules}{limits}devmap {LEVELS[args.kind][0]}\n")
    with open(os.path.join(args.keep, "players.json"), "w", encoding="utf-8") as out:
        json.dump(everybody, out, indent=1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to stop"))
    try:
        server.open()
        for number in range(args.matches):
            ended = play(server, Match(args, everybody, number))
            print(f"match {number + 1}: {'played' if ended else 'has no end'}", file=sys.stderr, flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
