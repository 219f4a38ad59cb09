#!/usr/bin/env python3
"""Two matches of a queue in a row on a real OpenArena server, which Evenkeel's agent starts. See live.sh.

Two real clients queue, are called with their passes, and play; a third one has no pass. In the first match the
daemon is killed with -9 and started again, in the second one the agent. Prints a transcript: what the queue client
sends (>) and gets (<), what the agent reports, lines of the game's log; and a line `proved:` for each point.
"""

import json
import re
import socket
import subprocess
import threading
import time
from pathlib import Path

import clients
import server
from live import run
from season import Program
from tap import Transcript

CONFIG = """[queue.duel]
teams = 2
size = 1
ruleset = "baseoa.tdm"
[rating]
min_seconds = 30
"""
SHOWN = re.compile(r"(Warmup|Exit|red|ClientBegin|ClientDisconnect): ?|ClientUserinfoChanged: \d+ n\\")
# Far longer than any step here takes, in seconds.
LIMIT = 120


class Line:
    """The queue client: a connection to the daemon, whose lines go to the transcript."""

    def __init__(self, transcript, port):
        self.transcript = transcript
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket.settimeout(None)
        self.file = self.socket.makefile("r", encoding="utf-8")
        threading.Thread(target=self.read, daemon=True).start()
        self.say("HELLO lobby", "LISTEN")

    def read(self):
        try:
            for line in self.file:
                self.transcript.add("< queue", line.rstrip("\n"), not line.startswith("HELLO"))
        except OSError:
            pass

    def say(self, *lines):
        for line in lines:
            self.transcript.add("> queue", line, line.startswith("ENQUEUE"))
            self.socket.sendall(line.encode() + b"\n")


class Hosted:
    def __init__(self, evenkeel, folder):
        self.evenkeel, self.folder = evenkeel, Path(folder)
        self.transcript = Transcript()
        self.server = server.Server(folder)
        self.port = server.free_port(socket.SOCK_STREAM)
        rules = server.RULES.replace("g_gametype 4", "g_gametype 3")
        self.server.write("boot.cfg", f"set rconpassword {self.server.password}\n{rules}map oa_dm1\n")
        (self.folder / "config.toml").write_text(CONFIG)
        self.options = ["--config", self.folder / "config.toml", "--db", self.folder / "evenkeel.db"]
        self.display = self.daemon = self.agent = self.line = None
        self.clients, self.passes = {}, {}
        self.points = self.agents = self.daemons = 0

    def start(self):
        self.display = clients.Display()
        self.start_daemon()
        self.start_agent()
        threading.Thread(target=self.follow, daemon=True).start()
        self.seen("agent", "the game server is started", 0)

    def start_daemon(self):
        self.daemons += 1
        command = [self.evenkeel, "serve", *self.options, "--listen", f"127.0.0.1:{self.port}"]
        self.daemon = Program(list(map(str, command)), self.folder / f"daemon-{self.daemons}.log")
        self.daemon.wait_for(r"listening address", 0, LIMIT)
        self.line = Line(self.transcript, self.port)

    def start_agent(self):
        self.agents += 1
        log = self.folder / f"agent-{self.agents}.log"
        command = [
            self.evenkeel, "hosting", "idtech3", "--log", self.server.log, "--rcon", f"127.0.0.1:{self.server.port}",
            "--password-file", self.server.password_file, "--daemon", f"127.0.0.1:{self.port}", "--server", "oa",
            "--modes", "tdm", "--maps", "oa_dm1,oa_dm4", "--limit", "time=1", "--limit", "frags=0",
            "--state", self.folder / "match", "--", *self.server.command(),
        ]
        # In a process group of its own, as the game server that it starts outlives it when it is killed.
        self.agent = Program(list(map(str, command)), log)
        threading.Thread(target=self.copy, args=(log,), daemon=True).start()

    def copy(self, log):
        """Copies what an agent reports into the transcript, without what its game server prints."""
        told = re.compile(
            r"match \d|the game|no connection|\w+ (is here|has left)|the daemon|cannot")
        with open(log, encoding="latin-1") as lines:
            while True:
                line = lines.readline()
                if line and told.match(line):
                    self.transcript.add("agent", line.rstrip("\n"))
                elif not line:
                    time.sleep(0.05)

    def follow(self):
        """Copies the lines of the game's log into the transcript."""
        done = 0
        while True:
            lines = self.server.news().split("\n")[:-1]
            for line in lines[done:]:
                text = re.sub(r"(\\t\\\d)\\.*", r"\1…", line.strip())
                self.transcript.add("log", text, SHOWN.search(line) is not None)
            done = len(lines)
            time.sleep(0.05)

    def stop(self):
        for part in (*self.clients.values(), self.agent, self.daemon, self.display):
            if part:
                part.stop()
        # An agent that was killed leaves its game server behind.
        self.server.rcon("quit")

    def seen(self, source, pattern, mark, again=None):
        """The first match of the pattern in what came from a source after the mark."""
        began = asked = time.monotonic()
        while time.monotonic() < began + LIMIT:
            for text in self.transcript.since(mark, source):
                if found := re.search(pattern, text):
                    return found
            if again and time.monotonic() > asked + 3:
                again()
                asked = time.monotonic()
            time.sleep(0.05)
        raise TimeoutError(f"{pattern!r} did not come from {source} within {LIMIT} s")

    def proved(self, what):
        self.points += 1
        self.transcript.add("proved:", what)

    def queue(self, number):
        """Both players queue; returns the match once they are called, with the address."""
        mark = self.transcript.mark()
        for name in ("ann", "bob"):
            self.line.say(f"ENQUEUE duel {name}-{number}", f"SEAT {name}", "SUBMIT")
        for name in ("ann", "bob"):
            found = self.seen("< queue", rf"^\* GO (\d+) (\S+) (\S+) {name}$", mark)
            self.passes[name] = found.group(3)
        return int(found.group(1)), found.group(2)

    def teams(self, match, mark):
        """The team of each player, by the line of the queue client: 1 is red, 2 is blue, as in the log."""
        found = [self.seen("< queue", rf"^\* TEAM {match} (\d) {name}$", mark) for name in ("ann", "bob")]
        return {name: int(team.group(1)) + 1 for name, team in zip(("ann", "bob"), found)}

    def come(self, name, address):
        """A player connects with the pass."""
        if name not in self.clients:
            self.clients[name] = clients.Client(
                self.folder, name, self.display, self.server.port, self.passes[name])
            return
        self.clients[name].do(f"password {self.passes[name]}")
        self.clients[name].do(f"connect {address}")

    def gather(self, match, address, mark):
        for name in ("ann", "bob"):
            self.come(name, address)
        for name, team in self.teams(match, mark).items():
            self.seen("agent", f"^{name} is here", mark)
            self.seen("log", rf"ClientUserinfoChanged: \d+ n\\{name}\\t\\{team}", mark)
        self.seen("agent", f"^match {match} has begun", mark)

    def lose(self, name, mark):
        """A player dies by suicide, which costs the team a point."""
        self.seen("log", rf"{name} killed {name} by MOD_SUICIDE", mark, lambda: self.clients[name].do("kill"))

    def hosted(self):
        """What the operator sees of the matches: the state and the outcome of each."""
        command = [self.evenkeel, "hosting", "matches", "--json", *self.options]
        output = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
        rows = json.loads(output)
        return {row["match"]: (row["state"], row["outcome"]) for row in rows}


def first_match(live):
    """A match with a stranger, in which the daemon is killed."""
    mark = live.transcript.mark()
    match, address = live.queue(1)
    live.clients["eve"] = clients.Client(live.folder, "eve", live.display, live.server.port, "guess")
    live.seen("log", r"ClientUserinfoChanged: \d+ n\\eve", mark)
    live.seen("log", "ClientDisconnect: ", mark)
    live.clients.pop("eve").stop()
    live.proved("a client without a pass is disconnected")
    live.gather(match, address, mark)
    live.proved(f"match {match}: both players are on the teams that the queue chose, and play has begun")
    live.daemon.process.kill()
    live.daemon.process.wait()
    live.transcript.add("daemon", "is killed")
    live.lose("bob", mark)
    live.start_daemon()
    live.transcript.add("daemon", "is started again")
    live.seen("log", r"\bExit: ", mark)
    result = live.seen("agent", rf"the game is over: {match} (.*)", mark).group(1)
    live.proved(f"match {match} survived the daemon: {result}")
    return match


def second_match(live):
    """The next match, with the same clients, in which the agent is killed."""
    mark = live.transcript.mark()
    match, address = live.queue(2)
    live.gather(match, address, mark)
    live.proved(f"match {match}: the same clients came with new passes, and play has begun")
    live.agent.process.kill()
    live.agent.process.wait()
    live.transcript.add("agent", "is killed")
    live.lose("ann", mark)
    here = live.transcript.mark()
    live.start_agent()
    for name in ("ann", "bob"):
        live.seen("agent", f"^{name} is here", here)
    live.seen("log", r"\bExit: ", here)
    result = live.seen("agent", rf"the game is over: {match} (.*)", here).group(1)
    live.proved(f"match {match} was taken over by another agent: {result}")
    return match


def story(live):
    live.start()
    matches = [first_match(live), second_match(live)]
    outcomes = live.hosted()
    assert [outcomes[match][0] for match in matches] == ["over", "over"], outcomes
    assert len(outcomes) == 2, outcomes
    command = [live.evenkeel, "weights", "--game", "baseoa.tdm", "--csv", *live.options]
    weights = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
    for line in weights.splitlines():
        live.transcript.add("weights", line)
    live.proved("both matches are over, once each")
    mark = live.transcript.mark()
    live.seen("log", "ClientDisconnect: ", mark)
    live.proved("the server is cleared and locked after the match")


if __name__ == "__main__":
    run(__doc__, "evenkeel-hosted-", Hosted, story)
