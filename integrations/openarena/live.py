#!/usr/bin/env python3
"""Real clients and bots on a real OpenArena server, whose teams Evenkeel keeps even. See live.sh.

Prints a transcript: lines of the game's log, requests (>) and replies (<) of the daemon, commands for the
console, what the server itself says about its teams, what players see; and a line `proved:` for each point.
"""

import os
import re
import socket
import subprocess
import threading
import time

import clients
import server
import story as stories
from season import Program
from tap import ConsoleTap, DaemonTap

# What the players weigh before their first game: two are strong.
WEIGHTS = {"ann": 88, "bob": 70, "cid": 40, "dan": 45, "Sarge": 60, "Tony": 40, "Neko": 50}
BOTS = {"Sarge": "red", "Tony": "blue", "Neko": "blue"}
TEAMS = ("red", "blue")
# A warm-up that lasts until it is shortened.
RULES = server.RULES.replace("g_warmup 20", "g_warmup 600") + "set g_admin admin.dat\n"
# Auto-balance acts on 4 players against 2, once that has lasted some seconds.
CONFIG = """[divisions]
names = ["Bronze", "Silver", "Gold"]
[auto_balance]
rules = "custom"
[auto_balance.custom]
delay_seconds = 4
"""
# Lines of the log that concern teams.
SHOWN = re.compile(r"(InitGame|Warmup|ClientBegin|ClientDisconnect|say|Kill): |ClientUserinfoChanged: \d+ n\\")
# Far longer than anything here takes, in seconds.
LIMIT = 120


class Live(stories.Story):
    limit = LIMIT
    config = CONFIG
    options = ["--settle", "2", "--treat-bots-as-players", "--auto-balance", "--vote", "50"]

    def __init__(self, evenkeel, folder):
        super().__init__(evenkeel, folder)
        self.server = server.Server(folder)
        self.server.write("boot.cfg", f"set rconpassword {self.server.password}\n{RULES}devmap oa_ctf4ish\n")
        self.display = self.daemon = self.sidecar = None
        self.clients = {}

    def start(self):
        config = self.folder / "config.toml"
        config.write_text(self.config)
        environment = {"--config": config, "--db": self.folder / "evenkeel.db"}
        options = [str(word) for pair in environment.items() for word in pair]
        self.display = clients.Display()
        for name, weight in WEIGHTS.items():
            guid = clients.guid(name) if name not in BOTS else name
            self.transcript.names[guid] = name
            subprocess.run([self.evenkeel, "player", "start-weight", *options, guid, str(weight)],
                           check=True, stdout=subprocess.DEVNULL)
        for name in BOTS:
            del self.transcript.names[name]
        self.server.start()
        self.server.mark()
        threading.Thread(target=self.follow, args=("log", SHOWN, shortened), daemon=True).start()
        self.daemon = Program([self.evenkeel, "serve", *options, "--listen", "127.0.0.1:0"], self.folder / "daemon.log")
        found = self.daemon.wait_for(r"listening address=127\.0\.0\.1:(\d+)", 0, LIMIT)
        daemon = DaemonTap(self.transcript, int(found.group(1)))
        console = ConsoleTap(self.transcript, self.server)
        self.sidecar = Program(
            [self.evenkeel, "sidecar", "idtech3", "--log", self.server.log, "--rcon", f"127.0.0.1:{console.port}",
             "--password-file", self.server.password_file, "--daemon", f"127.0.0.1:{daemon.port}", "--server", "live",
             *self.options],
            self.folder / "sidecar.log")

    def stop(self):
        """Everything that was started, whatever happened to it."""
        for part in (*self.clients.values(), self.sidecar, self.daemon, self.server, self.display):
            if part:
                part.stop()

    def join(self, *names):
        """Starts clients; returns when all are on the server, as spectators."""
        mark = self.transcript.mark()
        for name in names:
            self.clients[name] = clients.Client(self.folder, name, self.display, self.server.port)
        numbers = {}
        for name in names:
            number = self.wait(name, "log", rf"ClientUserinfoChanged: (\d+) n\\{name}\\", mark).group(1)
            self.wait(f"the first frame of {name}", "log", f"ClientBegin: {number}$", mark)
            numbers[name] = number
        return numbers

    def choose(self, name, team):
        """A player chooses a team, as with the game's menu."""
        mark = self.transcript.mark()
        self.transcript.add(name, f"team {team}")
        command = lambda: self.clients[name].do(f"team {team}")
        command()
        side = {"red": 1, "blue": 2}[team]
        self.wait(f"{name} on {team}", "log", rf"ClientUserinfoChanged: \d+ n\\{name}\\t\\{side}", mark, command)

    def say(self, name, text):
        """A player writes in the chat, again while the server drops it as a flood."""
        mark = self.transcript.mark()
        self.transcript.add(name, f"say {text}")
        command = lambda: self.clients[name].do(f"say {text}")
        command()
        self.wait(f"the line of {name}", "log", f"say: {name}: {text}", mark, command)

    def teams(self):
        """Who is on which team, as the server itself says."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.settimeout(2)
            packet = b"\xff" * 4 + f"rcon {self.server.password} !listplayers".encode()
            for _ in range(10):
                line.sendto(packet, ("127.0.0.1", self.server.port))
                text = ""
                try:
                    while "players connected" not in text or not text.endswith("\n"):
                        text += line.recv(4096)[10:].decode("latin-1")
                except TimeoutError:
                    pass  # Answers are rationed.
                found = re.findall(r"^ *\d+ ([RBSC]) .*?\) +(\S+) *$", text, re.M)
                if found:
                    return {name: {"R": "red", "B": "blue"}.get(letter, "-") for letter, name in found}
        raise TimeoutError("the server does not answer")

    def settle(self, what, condition):
        """Waits until the server's own teams fulfil the condition, and shows them."""
        began = time.monotonic()
        while True:
            teams = self.teams()
            if condition(teams):
                break
            if time.monotonic() > began + LIMIT:
                raise TimeoutError(f"{what}: the server has {teams}")
            time.sleep(0.5)
        self.transcript.add("status", "; ".join(f"{team}: {', '.join(on(teams, team))}" for team in TEAMS))
        return teams

    def chosen(self, mark):
        """The team that the daemon chose last for each player."""
        chosen = {}
        for text in self.transcript.since(mark, "< daemon"):
            if found := re.match(r"TEAM (?P<team>\d) (?P<who>.*)$|MOVE (?P<mover>.*) \S (?P<to>\d)$", text):
                who, team = found["who"] or found["mover"], found["team"] or found["to"]
                chosen[self.transcript.names.get(who, who)] = TEAMS[int(team)]
        return chosen

    def name_of(self, identity):
        return self.transcript.names.get(identity, identity)

    def humans(self, teams, team):
        return [name for name in on(teams, team) if name in self.clients]


def on(teams, team):
    return [name for name, side in teams.items() if side == team]


def shortened(line):
    """A line of the log up to what it says about teams."""
    line = re.sub(r"(InitGame: ).*?(\\mapname\\[^\\]*).*", r"\1…\2…", line)
    return re.sub(r"(n\\.*?\\t\\\d).*", r"\1…", line)


def sizes(teams):
    return sorted(len(on(teams, team)) for team in TEAMS)


def other(team):
    return {"red": "blue", "blue": "red"}[team]


def warm_up(live):
    """Three humans choose red, and the sidecar forces some of them to blue."""
    mark = live.transcript.mark()
    live.join("ann", "bob", "cid")
    lines = [f"addbot {bot} 3 {team}" for bot, team in BOTS.items()]
    live.server.write("bots.cfg", "\n".join(lines) + "\n")
    for name in ("ann", "bob", "cid"):
        live.choose(name, "red")
    live.server.rcon("exec bots.cfg")
    for name in ("ann", "bob", "cid"):
        live.wait(f"JOIN of {name}", "> daemon", f"JOIN {live.clients[name].guid} ", mark)
    live.proved("JOIN of three humans")
    live.wait("the choice of teams", "< daemon", "^BALANCE ", mark)
    live.wait("forceteam", "> console", "^forceteam", mark)
    live.settle("the chosen teams", lambda teams: teams.items() >= live.chosen(mark).items())
    live.proved("forceteam in the warm-up: the server's teams are those that the daemon chose")


def play(live):
    """Ends the warm-up. Returns when play began."""
    mark = live.transcript.mark()
    live.server.rcon("set g_warmup 2")
    live.wait("the start of play", "> daemon", "^START$", mark, lambda: live.server.rcon("set g_warmup 3"))
    return time.monotonic()


def chat(live):
    """Each player asks something, and sees the answer alone."""
    for name, command, answer in (
        ("ann", "!teams", r"red \(\d\): .*"), ("bob", "!why", r"with bob on \w+ instead: ratio .*|.*ratio .*"),
        ("cid", "!rank", r"you have no division yet.*"),
    ):
        before = {name: len(client.sees()) for name, client in live.clients.items()}
        live.say(name, command)
        until = time.monotonic() + LIMIT
        while not (found := re.search(f"console_tell: ({answer})", live.clients[name].sees()[before[name]:])):
            if time.monotonic() > until:
                raise TimeoutError(f"{name} saw no answer to {command}")
            time.sleep(0.1)
        live.transcript.add(f"{name} sees", found.group(1))
        for stranger, client in live.clients.items():
            if stranger != name and found.group(1) in client.sees()[before[stranger]:]:
                raise AssertionError(f"{stranger} saw the answer to {name}")
        live.proved(f"{command} answered to the player who asked, and to nobody else")


def late_arrival(live, began):
    """One who comes in play chooses the stronger team, and is placed on the other."""
    live.join("dan")
    # Before 15 seconds of play, it is not late.
    time.sleep(max(0.0, began + 17 - time.monotonic()))
    mark = live.transcript.mark()
    teams = live.teams()
    strong = max(TEAMS, key=lambda team: sum(WEIGHTS[name] for name in on(teams, team)))
    live.choose("dan", strong)
    guid = live.clients["dan"].guid
    team = TEAMS[int(live.wait("PLACE", "< daemon", rf"^PLACE {guid} (\d)", mark).group(1))]
    teams = live.settle("the late arrival", lambda teams: teams["dan"] == team)
    live.wait("forceteam", "> console", rf"^forceteam \d+ {team}$", mark)
    live.proved(f"a late arrival chose {strong}, and is on {team}, where the daemon placed it")
    return teams


def leaver(live, teams):
    """A player of the smaller team leaves, so that there are 4 against 2; a player of the larger one who dies
    is moved."""
    small = min(TEAMS, key=lambda team: len(on(teams, team)))
    mark = live.transcript.mark()
    name = next(iter(live.humans(teams, small)), None)
    if name:
        live.transcript.add(name, "quit")
        live.clients[name].do("quit")
    else:
        live.server.rcon(f"kick {on(teams, small)[0]}")
    live.wait("LEAVE", "> daemon", "^LEAVE ", mark)
    if name:
        live.clients.pop(name).stop()
    strong = live.humans(live.settle("the leaver", lambda teams: sizes(teams) == [2, 4]), other(small))
    time.sleep(4.5)
    turns = 0

    def die():
        nonlocal turns
        live.clients[strong[turns % len(strong)]].do("kill")
        turns += 1

    die()
    found = live.wait("the move", "< daemon", r"^MOVE (\S+) \d (\d)", mark, die)
    moved, team = live.name_of(found.group(1)), TEAMS[int(found.group(2))]
    teams = live.settle("the move", lambda teams: teams.get(moved) == team and sizes(teams) == [3, 3])
    live.proved(f"a leaver's place is mended: {moved} is on {team} now, 3 against 3")
    return teams


def vote(live, teams):
    """A player changes to the other team, and the humans vote to balance again."""
    mark = live.transcript.mark()
    name, team = next((name, team) for name, team in teams.items() if name in live.clients)
    live.choose(name, other(team))
    for voter in live.clients:
        live.say(voter, "!balance")
    live.wait("the end of the vote", "> console", "the vote has passed", mark)
    found = live.wait("moves", "< daemon", r"^REBALANCE (\d)", mark)
    assert int(found.group(1)) > 0, "no move was advised"
    live.settle("the teams of the vote", lambda teams: sizes(teams) == [3, 3])
    live.proved("a vote balanced the teams again: 3 against 3")


def story(live):
    live.start()
    warm_up(live)
    began = play(live)
    chat(live)
    teams = late_arrival(live, began)
    teams = leaver(live, teams)
    vote(live, teams)


def run(about, prefix, kind, story):
    """Plays a story on a real OpenArena server."""
    lack = None if os.access(server.PROGRAM, os.X_OK) else "openarena-server is not installed"
    lack = lack or clients.missing()
    stories.run(about, prefix, kind, story, lack and f"{lack}; see live.sh --install")


if __name__ == "__main__":
    run(__doc__, "evenkeel-live-", Live, story)
