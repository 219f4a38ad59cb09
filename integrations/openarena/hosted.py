#!/usr/bin/env python3
"""Two matches of a queue in a row on a real OpenArena server, which Evenkeel's agent starts. See live.sh.

Two real clients queue, are called with their passes, and play; a third one has no pass. In the first match the
daemon is killed with -9 and started again, in the second one the agent. Prints a transcript: what the queue client
sends (>) and gets (<), what the agent reports, lines of the game's log; and a line `proved:` for each point.
"""

import re
import threading

import clients
import hosting
import server
from live import run

SHOWN = re.compile(r"(Warmup|Exit|red|ClientBegin|ClientDisconnect): ?|ClientUserinfoChanged: \d+ n\\")


class Hosted(hosting.Hosted):
    engine, ruleset = "idtech3", "baseoa.tdm"

    def __init__(self, evenkeel, folder):
        super().__init__(evenkeel, folder)
        self.server = server.Server(folder)
        self.console = f"127.0.0.1:{self.server.port}"
        rules = server.RULES.replace("g_gametype 4", "g_gametype 3")
        self.server.write("boot.cfg", f"set rconpassword {self.server.password}\n{rules}map oa_dm1\n")
        self.display, self.clients = None, {}

    def start(self):
        self.display = clients.Display()
        self.start_daemon()
        self.start_agent()
        shortened = lambda line: re.sub(r"(\\t\\\d)\\.*", r"\1…", line)
        threading.Thread(target=self.follow, args=("log", SHOWN, shortened), daemon=True).start()
        self.seen("agent", "the game server is started", 0)

    def agent_options(self):
        return ["--modes", "tdm", "--maps", "oa_dm1,oa_dm4", "--limit", "time=1", "--limit", "frags=0",
                "--", *self.server.command()]

    def stop(self):
        for part in (*self.clients.values(), self.agent, self.daemon, self.display):
            if part:
                part.stop()
        # An agent that was killed leaves its game server behind.
        self.server.rcon("quit")

    def come(self, name, address):
        """A player connects with the pass."""
        if name not in self.clients:
            self.clients[name] = clients.Client(self.folder, name, self.display, self.server.port, self.passes[name])
            return
        self.clients[name].do(f"password {self.passes[name]}")
        self.clients[name].do(f"connect {address}")

    def stranger(self, mark):
        eve = clients.Client(self.folder, "eve", self.display, self.server.port, "guess")
        self.clients["eve"] = eve
        self.seen("log", r"ClientUserinfoChanged: \d+ n\\eve", mark)
        self.seen("log", "ClientDisconnect: ", mark)
        self.clients.pop("eve").stop()

    def on_team(self, name, team, mark):
        self.seen("log", rf"ClientUserinfoChanged: \d+ n\\{name}\\t\\{team + 1}", mark)

    def decide(self, loser, mark):
        """A player dies by suicide, which costs the team a point."""
        self.seen("log", rf"{loser} killed {loser} by MOD_SUICIDE", mark, lambda: self.clients[loser].do("kill"))

    def wait_for_end(self, mark):
        self.seen("log", r"\bExit: ", mark)

    def wait_for_clear(self, mark):
        self.seen("log", "ClientDisconnect: ", mark)


if __name__ == "__main__":
    run(__doc__, "evenkeel-hosted-", Hosted, hosting.story)
