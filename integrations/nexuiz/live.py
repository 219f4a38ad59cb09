#!/usr/bin/env python3
"""Eight bots on a real Nexuiz server, whose teams Evenkeel keeps even, by the sidecar for Xonotic.

    integrations/nexuiz/live.py --evenkeel target/release/evenkeel [--keep DIR]

Prints a transcript: requests (>) and replies (<) of the daemon, and a line `proved:` for each point. About two minutes; needs
Debian's package nexuiz-server. All ports are on loopback.
"""

import os
import subprocess
import sys
from pathlib import Path

import game

sys.path.append(str(Path(__file__).resolve().parent.parent / "openarena"))
from season import Program
from story import Story, assert_picked, run
from tap import DaemonTap

# Matches to 10 points.
RULES = """skill 5
bot_number 8
fraglimit_override 10
timelimit_override 5
"""
LIMIT = 120


class Live(Story):
    limit = LIMIT

    def __init__(self, evenkeel, folder):
        super().__init__(evenkeel, folder)
        self.server = game.Server(folder, RULES)
        self.daemon = self.sidecar = None

    def start(self):
        self.server.start()
        self.begin()

    def begin(self):
        """Starts the daemon and the sidecar."""
        command = [self.evenkeel, "serve", "--db", self.folder / "evenkeel.db", "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0"]
        self.daemon = Program(command, self.folder / "daemon.log")
        found = self.daemon.wait_for(r"listening address=127\.0\.0\.1:(\d+)", self.daemon.began, LIMIT)
        tap = DaemonTap(self.transcript, int(found.group(1)))
        self.sidecar = Program(
            [self.evenkeel, "sidecar", "xonotic", "--log", self.server.logs, "--rcon", f"127.0.0.1:{self.server.port}",
             "--password-file", self.server.password_file, "--daemon", f"127.0.0.1:{tap.port}", "--server", "live", "--settle", "0.3",
             "--opening", "3", "--treat-bots-as-players", "--move-command", "sv_cmd movetoteam {player} {team}"],
            self.folder / "sidecar.log")

    def stop(self):
        for part in (self.sidecar, self.daemon, self.server):
            if part:
                part.stop()

    def scores(self, database):
        return [match["scores"] for match in self.matches("--db", database)]


def story(live):
    mark = live.transcript.mark()
    live.start()
    for _ in range(2):
        live.wait("a game", "> daemon", "^GAME xonotic.tdm", mark)
        live.wait("the choice of teams", "< daemon", "^BALANCE ", mark)
        live.wait("START", "> daemon", "^START$", mark)
        live.wait("its record", "< daemon", r"^END \S+ recorded", mark)
        live.proved("teams were chosen before play, and the match is recorded at its end")
        mark = live.transcript.mark()
    live.wait("START", "> daemon", "^START$", mark)
    for program in (live.sidecar, live.daemon):
        program.process.kill()
        program.process.wait(15)
    mark = live.transcript.mark()
    live.begin()
    ended = live.wait("its record", "< daemon", r"^END (\S+) recorded", mark)
    # On a busy machine, play begins while the sidecar starts: then it asks for no teams.
    asked = any(line.startswith("BALANCE ") for line in live.transcript.since(mark, "< daemon"))
    live.proved("after kill -9 of both, the next match is recorded")
    logs = sorted(live.server.logs.glob("*.log"))
    again = live.folder / "again.db"
    subprocess.run([live.evenkeel, "ingest", "--db", again, *logs], check=True, stdout=subprocess.DEVNULL)
    stored, read = live.scores(live.folder / "evenkeel.db"), live.scores(again)
    # On a busy machine, play has begun before the sidecar runs again. It cannot record that match, and says so.
    parts = (live.folder / "sidecar.log").read_text().count("only a part of the game that ended: ingest its log")
    whole = [match for at, match in enumerate(read) if at != 2 or parts == 0]
    assert stored == whole and len(stored) >= 3 and parts <= 1, f"{stored} are stored, {read} are in the logs, {parts} in part"
    assert_picked(live.folder / "evenkeel.db", except_for=() if asked else (int(ended.group(1)),))
    live.proved(f"ingest finds the same matches in the logs, and those with chosen teams count as picked: {read}")


if __name__ == "__main__":
    missing = None if os.access(game.PROGRAM, os.X_OK) else "nexuiz-server is not installed"
    run(__doc__, "evenkeel-nexuiz-", Live, story, missing)
