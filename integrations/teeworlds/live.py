#!/usr/bin/env python3
"""Twelve players on a real Teeworlds server, whose teams Evenkeel keeps even.

    integrations/teeworlds/live.py --evenkeel target/release/evenkeel [--keep DIR]

Prints a transcript: lines of the game's output, requests (>) and replies (<) of the daemon; and a line `proved:` for each
point. About two and a half minutes; needs Debian's package teeworlds-server. All ports are on loopback.
"""

import os
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import game

sys.path.append(str(Path(__file__).resolve().parent.parent / "openarena"))
from season import Program
from story import Story, assert_picked, run
from tap import DaemonTap

# Everybody's skill, and what they weigh before their first match.
SKILLS = {"ann": 5, "bob": 5, "cid": 4, "dan": 4, "eve": 3, "fay": 3, "gus": 2, "hal": 2, "ivy": 1, "jim": 1, "kim": 1}
WEIGHTS = {1: 20, 2: 35, 3: 50, 4: 70, 5: 90}
LATE = "leo"
SHOWN = re.compile(r"\[(game|chat)\]: (?!pickup|kill|Teams are)")
# Far longer than anything here takes, in seconds: with equal scores, a match goes on until somebody scores.
LIMIT = 400


class Live(Story):
    limit = LIMIT

    def __init__(self, evenkeel, folder):
        super().__init__(evenkeel, folder)
        self.server = game.Server(folder, "sv_warmup 12\n")
        self.config = ["--db", str(self.folder / "evenkeel.db")]
        self.players = self.daemon = self.sidecar = None

    def start(self):
        for name, skill in SKILLS.items():
            command = [self.evenkeel, "player", "start-weight", *self.config, name, str(WEIGHTS[skill])]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        self.server.start()
        threading.Thread(target=self.follow, args=("game", SHOWN), daemon=True).start()
        self.begin()
        self.players = game.Players(self.server.port, random.Random(1))

    def begin(self):
        """Starts the daemon and the sidecar."""
        self.daemon = Program([self.evenkeel, "serve", *self.config, "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0"],
                              self.folder / "daemon.log")
        found = self.daemon.wait_for(r"listening address=127\.0\.0\.1:(\d+)", self.daemon.began, LIMIT)
        tap = DaemonTap(self.transcript, int(found.group(1)))
        self.sidecar = Program(
            [self.evenkeel, "sidecar", "teeworlds", "--rcon", f"127.0.0.1:{self.server.console_port}", "--password-file",
             self.server.password_file, "--daemon", f"127.0.0.1:{tap.port}", "--server", "live", "--settle", "1",
             "--auto-balance", "--log", self.server.log],
            self.folder / "sidecar.log")
        self.sidecar.wait_for("connected to the remote console", self.sidecar.began, LIMIT)

    def stop(self):
        for part in (self.players, self.sidecar, self.daemon, self.server):
            if part:
                part.stop()

    def settle(self, what, condition):
        """Waits until the server's own teams fulfil the condition."""
        until = time.monotonic() + LIMIT
        while not condition(teams := self.server.teams()):
            if time.monotonic() > until:
                raise TimeoutError(f"{what}: the server has {teams}")
            time.sleep(0.1)
        return teams

    def chosen(self, mark):
        """The team that the daemon chose last for each player."""
        chosen = {}
        for text in self.transcript.since(mark, "< daemon"):
            if found := re.match(r"TEAM (?P<team>\d) (?P<who>.*)$|MOVE (?P<mover>.*) \S (?P<to>\d)$", text):
                chosen[found["who"] or found["mover"]] = int(found["team"] or found["to"])
        return chosen


def warm_up(live):
    """The strongest choose red; the sidecar moves some of them."""
    mark = live.transcript.mark()
    for name, skill in SKILLS.items():
        live.players.join(name, skill, 0 if skill > 3 else None)
    for name in SKILLS:
        live.wait(f"JOIN of {name}", "> daemon", f"^JOIN {name} ", mark)
    live.proved("JOIN of eleven players")
    live.wait("the choice of teams", "< daemon", "^BALANCE ", mark)
    live.wait("a move", "game", r"\[server\]: moved client \d+ to team \d", mark)
    live.settle("the chosen teams", lambda teams: live.chosen(mark).items() <= teams.items())
    live.proved("set_team in the warm-up: the server's teams are those that the daemon chose")


def match(live):
    """A match of a minute: a late arrival, a question, and the score."""
    mark = live.transcript.mark()
    live.wait("the start of play", "> daemon", "^START$", mark)
    live.proved("START when the server starts the match")
    time.sleep(16)  # before 15 seconds of play, nobody is late
    live.players.join(LATE, 3)
    team = int(live.wait("PLACE", "< daemon", rf"^PLACE {LATE} (\d)", mark).group(1))
    live.settle("the late arrival", lambda teams: teams.get(LATE) == team)
    live.proved(f"a late arrival is on team {team}, where the daemon placed them")
    live.players.say("ann", "!teams")
    live.wait("the answer", "game", r"\[chat\]: \*\*\* .*red \(\d\): ", mark)
    live.proved("!teams is answered in the chat")
    live.wait("END", "> daemon", "^END$", mark)
    seen = list(live.players.scores())
    live.wait("the record", "< daemon", r"^END \S+ recorded", mark)
    stored = live.matches(*live.config)[-1]["scores"]
    assert stored == seen, f"{stored} is stored, the players see {seen}"
    live.proved(f"END at the time limit: the stored score {stored} is what the players see")


def killed(live):
    """The daemon and the sidecar are killed in the second match, which is not recorded; the third is."""
    mark = live.transcript.mark()
    live.server.command("sv_scorelimit 4")
    live.wait("the choice of teams", "< daemon", "^BALANCE ", mark)
    live.wait("the second match", "> daemon", "^START$", mark)
    time.sleep(2)
    for program in (live.sidecar, live.daemon):
        program.process.kill()
        program.process.wait(15)
    mark = live.transcript.mark()
    live.begin()
    for name in (*SKILLS, LATE):
        live.wait(f"JOIN of {name}", "> daemon", f"^JOIN {name} .*team=", mark)
    live.proved("after kill -9 of both, a new sidecar knows all twelve and their teams")
    live.wait("the third match", "> daemon", "^START$", mark)
    live.wait("its record", "< daemon", r"^END \S+ recorded", mark)
    live.proved("the next match is recorded")


def ingest(live):
    """The server's output has all three matches, with the same results."""
    live.server.wait_for("start match", LIMIT, "the fourth match", live.server.size())
    again = str(live.folder / "again.db")
    subprocess.run([live.evenkeel, "ingest", "--db", again, str(live.server.log)], check=True, stdout=subprocess.DEVNULL)
    scores = lambda matches: [match["scores"] for match in matches]
    stored, read = scores(live.matches(*live.config)), scores(live.matches("--db", again))
    assert len(read) == 3 and stored == [read[0], read[2]], f"{stored} are stored, {read} are in the log"
    assert_picked(live.folder / "evenkeel.db")
    live.proved(f"ingest finds the matches in the server's output, and all count as picked: {read}")


def story(live):
    live.start()
    for part in (warm_up, match, killed, ingest):
        part(live)


if __name__ == "__main__":
    missing = None if os.access(game.PROGRAM, os.X_OK) else "teeworlds-server is not installed"
    run(__doc__, "evenkeel-teeworlds-", Live, story, missing)
