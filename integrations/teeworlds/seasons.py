#!/usr/bin/env python3
"""Two seasons of the same twelve people on real Teeworlds servers: random teams, and teams by Evenkeel.

    integrations/teeworlds/seasons.py --evenkeel target/release/evenkeel [--matches 60] [--keep DIR]

Team deathmatch to 20 points. Both seasons are played at the same time, each on a server of its own with a daemon of its own
that knows nobody at first. Before each match the teams are drawn at random, the same in both seasons; in the second one the
sidecar then chooses others. A match takes about 40 seconds.
"""

import os
import random
import re
import sys
from pathlib import Path

import game

sys.path.append(str(Path(__file__).resolve().parent.parent / "openarena"))
import two_seasons

RULES = f"sv_gametype tdm\nsv_scorelimit {two_seasons.POINTS}\nsv_timelimit 3\nsv_respawn_delay_tdm 1\nsv_warmup 15\n"


class Season(two_seasons.Season):
    people = {"ann": 5, "bob": 5, "cid": 5, "dan": 4, "eve": 4, "fay": 3, "gus": 3, "hal": 2, "ivy": 2, "jim": 1, "kim": 1, "leo": 1}
    ruleset, settled = "teeworlds.tdm", "1"

    def __init__(self, *args):
        super().__init__(*args)
        self.server, self.players = game.Server(self.folder, RULES), None
        self.began = self.server.size() if self.server.log.exists() else 0

    def open(self):
        self.server.start()
        self.attach("teeworlds", "--log", self.server.log, "--rcon", f"127.0.0.1:{self.server.console_port}",
                    "--password-file", self.server.password_file)
        self.players = game.Players(self.server.port, random.Random(self.seed))
        for name, skill in self.people.items():
            self.players.join(name, skill)
        self.server.wait_for(f"team_join player='{len(self.people) - 1}:", 30, "the last player", self.began)

    def parts(self):
        return self.players, self.server

    def match(self, number):
        found = re.findall(r"\[game\]: team_join player='(\d+):(.*)' team=-?\d\n", self.server.news(self.began))
        slots = {name: slot for slot, name in found}
        for name, team in self.draw(number).items():
            self.server.command(f"set_team {slots[name]} {team}")
        size, told = self.server.size(), self.sidecar.size()
        self.server.wait_for(r"\[game\]: start match type='TDM'", 60, "the start", size)
        teams = self.server.teams()
        over = self.sidecar.wait_for(two_seasons.OVER, told, two_seasons.LIMIT)
        if not over:
            raise TimeoutError(f"match {number} has no end")
        return list(self.players.scores()), teams, over.group(1)


if __name__ == "__main__":
    two_seasons.run(__doc__, Season, None if os.access(game.PROGRAM, os.X_OK) else "teeworlds-server is not installed")
