"""A Teeworlds server on loopback, and players on it."""

import os
import re
import secrets
import select
import socket
import subprocess
import threading
import time
from pathlib import Path

import arena
from player import Player

PROGRAM = "/usr/games/teeworlds-server"
# The teams are the sidecar's business; matches of one minute.
RULES = """sv_gametype ctf
sv_map arena
sv_max_clients 16
sv_player_slots 16
sv_max_clients_per_ip 16
sv_spamprotection 0
sv_register 0
sv_teambalance_time 0
sv_match_swap 0
sv_scorelimit 0
sv_timelimit 1
"""


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, folder, rules):
        self.home = Path(folder).resolve() / "teeworlds"
        (self.home / "maps").mkdir(parents=True, exist_ok=True)
        arena.make(self.home / "maps/arena.map")
        self.log = self.home / "teeworlds.log"
        self.port, self.console_port = free_port(socket.SOCK_DGRAM), free_port(socket.SOCK_STREAM)
        self.password = secrets.token_hex(12)
        self.password_file = self.home / "econ-password"
        self.password_file.touch(mode=0o600)
        self.password_file.write_text(self.password + "\n")
        console = f"ec_bindaddr 127.0.0.1\nec_port {self.console_port}\nec_password {self.password}\n"
        text = f"sv_port {self.port}\nbindaddr 127.0.0.1\n{console}{RULES}{rules}"
        (self.home / "server.cfg").write_text(text)
        self.process = self.console = None

    def arguments(self):
        """The program with its arguments. As root, it is run as `games`, who then owns its files."""
        command = [PROGRAM, "-f", "server.cfg"]
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", "games:games", self.home], check=True)
            command = ["setpriv", "--reuid=games", "--regid=games", "--clear-groups", *command]
        return command

    def start(self):
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(
                self.arguments(), stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.home,
                env={**os.environ, "HOME": str(self.home)})
        self.wait_for(r"\[server\]: version ", 20, "the server's start")
        self.connect()

    def connect(self):
        """Connects to the console."""
        self.console = socket.create_connection(("127.0.0.1", self.console_port), 10)
        self.command(self.password)

    def command(self, text):
        self.console.sendall(text.encode() + b"\n")

    def stop(self):
        if self.console:
            self.console.close()
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(15)

    def size(self):
        return self.log.stat().st_size

    def news(self, since=0):
        if not self.log.exists():
            return ""
        with open(self.log, "rb") as log:
            log.seek(since)
            return log.read().decode("utf-8", "replace")

    def wait_for(self, pattern, limit, what, since=0):
        until = time.monotonic() + limit
        while time.monotonic() < until:
            if found := re.search(pattern, self.news(since)):
                return found
            if self.process and self.process.poll() is not None:
                raise RuntimeError(f"the game server has ended; see {self.log}")
            time.sleep(0.05)
        raise TimeoutError(f"{what} did not come within {limit} s")

    def teams(self):
        """The team of each player by name, as the server itself prints it: 0, 1, or -1 to watch."""
        teams = {}
        for line in self.news().splitlines():
            if " sha256 is " in line:
                teams = {}  # a map: everybody enters again
            elif found := re.search(r"\[game\]: team_join player='\d+:(.*)' team=(?:-?\d->)?(-?\d)$", line):
                teams[found.group(1)] = int(found.group(2))
            elif found := re.search(r"\[game\]: leave player='\d+:(.*)'$", line):
                teams.pop(found.group(1), None)
        return teams


class Players:
    """Plays for all players, on a thread."""

    def __init__(self, port, random):
        self.port, self.random = port, random
        self.all, self.lock, self.stopped = {}, threading.Lock(), False
        self.thread = threading.Thread(target=self.play, daemon=True)
        self.thread.start()

    def join(self, name, skill, team=None):
        player = Player(name, skill, self.port, self.random, arena.STANDS, team)
        with self.lock:
            self.all[name] = player

    def leave(self, name):
        with self.lock:
            self.all.pop(name).stop()

    def say(self, name, line):
        with self.lock:
            self.all[name].say(line)

    def vote(self, option):
        """Everybody votes for an option of the server; the first one asks for the vote."""
        with self.lock:
            first, *others = self.all.values()
            first.call_vote(option)
        time.sleep(1)
        with self.lock:
            for player in others:
                player.agree()

    def scores(self):
        """The score that the players see."""
        with self.lock:
            return next(iter(self.all.values())).scores

    def play(self):
        while not self.stopped:
            with self.lock:
                players = list(self.all.values())
            try:
                select.select([p.connection for p in players if not p.ended], [], [], 0.02)
            except (OSError, ValueError):
                pass  # somebody has left meanwhile
            with self.lock:
                for player in self.all.values():
                    if not player.ended:
                        player.update()

    def stop(self):
        self.stopped = True
        self.thread.join(5)
        for player in self.all.values():
            player.stop()
