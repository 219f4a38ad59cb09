"""Two matches of a queue in a row on a real game server, which Evenkeel's agent starts; what all games share of it.

Two players queue, are called, and play; a stranger comes, too. In the first match the daemon is killed with -9 and started
again, in the second one the agent.
"""

import json
import re
import socket
import subprocess
import threading
import time

import server
from season import Program
from story import Story

NAMES = ("ann", "bob")
# What an agent reports, without what its game server prints.
TOLD = re.compile(r"match \d|the game|no connection|\w+ (is here|has left)|the daemon|cannot")


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


class Hosted(Story):
    """An evening of the agent. What the game's own files say of it: the engine, the ruleset, the agent's options, how a player
    and a stranger come, who is on which team, and how a match ends."""

    limit = 120
    engine = ruleset = ""
    # The address of the console.
    console = ""
    # In how many seconds a match is long enough to learn from.
    shortest = 30

    def __init__(self, evenkeel, folder):
        super().__init__(evenkeel, folder)
        self.port = server.free_port(socket.SOCK_STREAM)
        queue = f'[queue.duel]\nteams = 2\nsize = 1\nruleset = "{self.ruleset}"\n'
        (self.folder / "config.toml").write_text(f"{queue}[rating]\nmin_seconds = {self.shortest}\n")
        self.options = ["--config", self.folder / "config.toml", "--db", self.folder / "evenkeel.db"]
        self.daemon = self.agent = self.line = None
        self.passes = {}
        self.agents = self.daemons = 0

    def agent_options(self):
        raise NotImplementedError

    def come(self, name, address):
        """A player who was called connects."""
        raise NotImplementedError

    def stranger(self, mark):
        """Somebody connects who is no player of the match, and is disconnected."""
        raise NotImplementedError

    def on_team(self, name, team, mark):
        """Waits until the server itself has the player on this team, 0 or 1."""
        raise NotImplementedError

    def decide(self, loser, mark):
        """What decides the match, if it needs help."""

    def wait_for_end(self, mark):
        """Waits until the server says that the match is over, if it does."""

    def wait_for_clear(self, mark):
        """Waits until nobody is on the server any more."""
        raise NotImplementedError

    def seen(self, source, pattern, mark, again=None):
        return self.wait(f"{pattern!r} from {source}", source, pattern, mark, again)

    def start_daemon(self):
        self.daemons += 1
        command = [self.evenkeel, "serve", *self.options, "--listen", f"127.0.0.1:{self.port}", "--web", "127.0.0.1:0"]
        self.daemon = Program(command, self.folder / f"daemon-{self.daemons}.log")
        self.daemon.wait_for(r"listening address", 0, self.limit)
        self.line = Line(self.transcript, self.port)

    def start_agent(self):
        self.agents += 1
        log = self.folder / f"agent-{self.agents}.log"
        command = [
            self.evenkeel, "hosting", self.engine, "--log", self.server.log, "--rcon", self.console,
            "--password-file", self.server.password_file, "--daemon", f"127.0.0.1:{self.port}", "--server", "here",
            "--state", self.folder / "match", *self.agent_options(),
        ]
        # The game server that it starts outlives it when it is killed.
        self.agent = Program(command, log)
        threading.Thread(target=self.copy, args=(log,), daemon=True).start()

    def copy(self, log):
        """Copies what an agent reports into the transcript."""
        with open(log, encoding="latin-1") as lines:
            while True:
                line = lines.readline()
                if line and TOLD.match(line):
                    self.transcript.add("agent", line.rstrip("\n"))
                elif not line:
                    time.sleep(0.05)

    def kill(self, part, name):
        part.process.kill()
        part.process.wait()
        self.transcript.add(name, "is killed")

    def queue(self, number):
        """Both players queue; returns the match once they are called, with the address."""
        mark = self.transcript.mark()
        for name in NAMES:
            self.line.say(f"ENQUEUE duel {name}-{number}", f"SEAT {name}", "SUBMIT")
        for name in NAMES:
            found = self.seen("< queue", rf"^\* GO (\d+) (\S+) (\S+) {name}$", mark)
            self.passes[name] = found.group(3)
        return int(found.group(1)), found.group(2)

    def gather(self, match, address, mark):
        """Both come, are put on the teams that the queue has chosen, and play."""
        for name in NAMES:
            self.come(name, address)
        for name in NAMES:
            team = self.seen("< queue", rf"^\* TEAM {match} (\d) {name}$", mark)
            self.seen("agent", f"^{name} is here", mark)
            self.on_team(name, int(team.group(1)), mark)
        self.seen("agent", f"^match {match} has begun", mark)

    def hosted(self):
        """What the operator sees of the matches: the state of each."""
        command = [self.evenkeel, "hosting", "matches", "--json", *self.options]
        rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return {row["id"]: row["state"] for row in rows}


def first_match(live):
    """A match with a stranger, in which the daemon is killed."""
    mark = live.transcript.mark()
    match, address = live.queue(1)
    live.stranger(mark)
    live.proved("who is no player of the match is disconnected")
    live.gather(match, address, mark)
    live.proved(f"match {match}: both players are on the teams that the queue chose, and play has begun")
    live.kill(live.daemon, "daemon")
    live.decide("bob", mark)
    live.start_daemon()
    live.transcript.add("daemon", "is started again")
    live.wait_for_end(mark)
    result = live.seen("agent", rf"the game is over: {match} (.*)", mark).group(1)
    live.proved(f"match {match} survived the daemon: {result}")
    return match


def second_match(live):
    """The next match, with the same players, in which the agent is killed."""
    mark = live.transcript.mark()
    match, address = live.queue(2)
    live.gather(match, address, mark)
    live.proved(f"match {match}: the same players came again, and play has begun")
    live.kill(live.agent, "agent")
    live.decide("ann", mark)
    here = live.transcript.mark()
    live.start_agent()
    for name in NAMES:
        live.seen("agent", f"^{name} is here", here)
    live.wait_for_end(here)
    result = live.seen("agent", rf"the game is over: {match} (.*)", here).group(1)
    live.proved(f"match {match} was taken over by another agent: {result}")
    return match


def story(live):
    live.start()
    matches = [first_match(live), second_match(live)]
    mark = live.transcript.mark()
    states = live.hosted()
    assert states == {match: "over" for match in matches}, states
    command = [live.evenkeel, "weights", "--game", live.ruleset, "--csv", *live.options]
    weights = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in weights.splitlines():
        live.transcript.add("weights", line)
    live.proved("both matches are over, once each")
    live.wait_for_clear(mark)
    live.proved("the server is cleared and locked after the match")
