#!/usr/bin/env python3
"""Two matches of a queue in a row on a real Teeworlds server, which Evenkeel's agent starts.

    integrations/teeworlds/hosted.py --evenkeel target/release/evenkeel [--keep DIR]

Two players queue, are called, and play team deathmatch; a third one is no player of the match. In the first match the daemon
is killed with -9 and started again, in the second one the agent. Prints a transcript: what the queue client sends (>) and gets
(<), what the agent reports, lines of the game's output; and a line `proved:` for each point. About two minutes; needs Debian's
package teeworlds-server. All ports are on loopback.
"""

import os
import random
import re
import shlex
import sys
import threading
import time
from pathlib import Path

import game

sys.path.append(str(Path(__file__).resolve().parent.parent / "openarena"))
import hosting
from story import run

SHOWN = re.compile(r"\[game\]: (start|team_join|leave)|client dropped")


class Hosted(hosting.Hosted):
    engine, ruleset, shortest = "teeworlds", "teeworlds.tdm", 5

    def __init__(self, evenkeel, folder):
        super().__init__(evenkeel, folder)
        self.server = game.Server(folder, "sv_gametype dm\nsv_respawn_delay_tdm 1\n")
        self.console = f"127.0.0.1:{self.server.console_port}"
        self.players = None

    def start(self):
        self.start_daemon()
        self.start_agent()
        threading.Thread(target=self.follow, args=("log", SHOWN), daemon=True).start()
        self.seen("agent", "the game server is started", 0)
        self.server.wait_for(r"\[server\]: version ", self.limit, "the server's start")
        self.server.connect()
        self.players = game.Players(self.server.port, random.Random(1))

    def agent_options(self):
        """What the server prints goes into the file from which the agent reads."""
        server = f"cd {shlex.quote(str(self.server.home))} && HOME=$PWD exec {shlex.join(self.server.arguments())}"
        return ["--address", f"127.0.0.1:{self.server.port}", "--modes", "tdm", "--maps", "arena", "--limit", "time=1",
                "--limit", "score=2", "--", "sh", "-c", f"{server} >> {shlex.quote(str(self.server.log))} 2>&1"]

    def stop(self):
        if self.players:
            self.players.stop()
        # An agent that was killed leaves its game server behind.
        if self.server.console:
            self.server.command("shutdown")
        for part in (self.agent, self.daemon, self.server):
            if part:
                part.stop()

    def come(self, name, _address):
        """A player connects, again if the server was cleared since."""
        if name in self.players.all:
            self.players.leave(name)
        self.players.join(name, 5)

    def stranger(self, mark):
        self.players.join("eve", 4)
        self.seen("log", r"team_join player='\d+:eve'", mark)
        self.seen("log", r"client dropped\..*in no match here", mark)
        self.players.leave("eve")

    def on_team(self, name, team, mark):
        until = time.monotonic() + self.limit
        while self.server.teams().get(name) != team:
            if time.monotonic() > until:
                raise TimeoutError(f"{name} is not on team {team}: the server has {self.server.teams()}")
            time.sleep(0.1)

    def wait_for_clear(self, mark):
        for name in hosting.NAMES:
            self.seen("log", rf"leave player='\d+:{name}'", mark)


if __name__ == "__main__":
    missing = None if os.access(game.PROGRAM, os.X_OK) else "teeworlds-server is not installed"
    run(__doc__, "evenkeel-teeworlds-", Hosted, hosting.story, missing)
