#!/usr/bin/env python3
"""Two seasons of the same eight bots on real Nexuiz servers: random teams, and teams by Evenkeel.

    integrations/nexuiz/seasons.py --evenkeel target/release/evenkeel [--matches 60] [--keep DIR]

Team deathmatch to 20 points, five times as fast. Both seasons are played at the same time, each on a server of its own with a
daemon of its own that knows nobody at first. Before each match the teams are drawn at random, the same in both seasons; in the
second one the sidecar then chooses others. A match takes about 45 seconds.
"""

import os
import re
import sys
import time
from pathlib import Path

import game

sys.path.append(str(Path(__file__).resolve().parent.parent / "openarena"))
import two_seasons

RULES = f'fraglimit_override {two_seasons.POINTS}\ntimelimit_override 10\nskill 5\nbot_number 8\nbot_prefix ""\n'
# The abilities of a bot, each of which is added to the server's `skill`: keyboard, moving, dodging, ping, weapons,
# aggressiveness, range, aiming, calm hand, mouse, thinking in fights, thinking. The range is a taste.
ABILITIES, TASTE = 12, 6
# How the log names the teams.
TEAMS = {"5": 0, "14": 1}


class Season(two_seasons.Season):
    people = {"Ann": 5, "Bob": 5, "Cid": 4, "Dan": 4, "Eve": 2, "Fay": 2, "Gus": 1, "Hal": 1}
    ruleset, settled = "xonotic.tdm", "0.3"

    def __init__(self, *args):
        super().__init__(*args)
        self.server = game.Server(self.folder, RULES)

    def open(self):
        self.choose_bots(len(self.games))
        self.server.start()
        self.attach("xonotic", "--log", self.server.logs, "--rcon", f"127.0.0.1:{self.server.port}",
                    "--password-file", self.server.password_file, "--opening", "3", "--treat-bots-as-players",
                    "--move-command", "sv_cmd movetoteam {player} {team}")

    def parts(self):
        return (self.server,)

    def choose_bots(self, number):
        """The bots of a match, which the server reads when it loads the map: their looks, teams and abilities. Those of the
        game itself are from -2 to 2, too."""
        lines = []
        for name, team in self.draw(number).items():
            abilities = [self.people[name] - 3] * ABILITIES
            abilities[TASTE] = 0
            lines.append("\t".join(map(str, (name, "nexus", 0, 4, 4, team + 1, *abilities))))
        (self.server.data / "bots.txt").write_text("\n".join(lines) + "\n")

    def match(self, number):
        told, log = self.sidecar.size(), self.log(number)
        over = self.sidecar.wait_for(two_seasons.OVER, told, two_seasons.LIMIT)
        if not over:
            raise TimeoutError(f"match {number} has no end")
        said = log.read_text(errors="replace")
        score = {team: int(points) for points, team in re.findall(r"^:teamscores:see-labels:(-?\d+),\S*:(\d+)$", said, re.M)}
        players = re.findall(r"^:player:see-labels:[^:]*:\d+:(\d+):\d+:(.*)$", said, re.M)
        teams = {name: TEAMS[team] for team, name in players if team in TEAMS}
        return [score.get(team, 0) for team in TEAMS], teams, over.group(1)

    def log(self, number):
        """The log of the game that begins, once its bots are there; they are chosen for the next one."""
        until = time.monotonic() + two_seasons.LIMIT
        known = getattr(self, "last", None)
        while time.monotonic() < until:
            logs = sorted(self.server.logs.glob("*.log"))
            if logs and logs[-1] != known and logs[-1].read_text(errors="replace").count("\n:join:") >= len(self.people):
                self.last = logs[-1]
                self.choose_bots(number + 1)
                return self.last
            time.sleep(0.1)
        raise TimeoutError(f"match {number} did not begin")


if __name__ == "__main__":
    two_seasons.run(__doc__, Season, None if os.access(game.PROGRAM, os.X_OK) else "nexuiz-server is not installed")
