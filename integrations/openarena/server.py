"""A dedicated OpenArena server on loopback, driven over its remote console and read through its log."""

import os
import re
import secrets
import socket
import subprocess
import time
from pathlib import Path

PROGRAM = "/usr/lib/ioquake3/ioq3ded"
DATA = "/usr/lib/openarena-server"
# Level and rules: a warm-up, in which teams can be chosen, then first to five captures.
RULES = """set g_gametype 4
set g_logsync 1
set g_log games.log
set bot_enable 1
set sv_maxclients 16
set capturelimit 5
set timelimit 10
set g_doWarmup 1
set g_warmup 20
"""
# Exact frames of 50 ms however loaded the machine is: without them bots miss their turns to think.
# timescale and fixedtime are cheats, hence devmap.
SLOW = "fixedtime 0\ntimescale 1\nsv_fps 20\n"
FAST = "sv_fps 1000\ntimescale 50\nfixedtime 50\n"
CHANGED = re.compile(r"ClientUserinfoChanged: (\d+) n\\(.*?)\\t\\(\d)")


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, folder):
        self.home = Path(folder).resolve() / "openarena"
        self.files = self.home / "baseoa"
        self.files.mkdir(parents=True, exist_ok=True)
        self.log = self.files / "games.log"
        self.port = free_port(socket.SOCK_DGRAM)
        self.password = secrets.token_hex(12)
        self.password_file = self.home / "rcon-password"
        self.password_file.touch(mode=0o600)
        self.password_file.write_text(self.password + "\n")
        self.write("boot.cfg", f"set rconpassword {self.password}\n{RULES}devmap oa_ctf4ish\n")
        self.write("slow.cfg", SLOW)
        self.write("fast.cfg", FAST)
        self.process = None
        self.offset = 0

    def write(self, name, text):
        (self.files / name).write_text(text)

    def command(self):
        """The program with its arguments. As root, it is run as `games`, who then owns its files."""
        settings = {
            "com_basegame": "baseoa", "fs_basepath": DATA, "fs_homepath": self.home, "com_homepath": ".openarena",
            "com_legacyprotocol": 71, "com_protocol": 71, "dedicated": 1, "net_ip": "127.0.0.1",
            "net_port": self.port, "com_hunkmegs": 128, "vm_game": 0, "ttycon": 0, "sv_pure": 0,
        }
        command = [PROGRAM]
        for name, value in settings.items():
            command += ["+set", name, str(value)]
        command += ["+exec", "boot.cfg"]
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", "games:games", self.home], check=True)
            command = ["setpriv", "--reuid=games", "--regid=games", "--clear-groups", *command]
        return command

    def start(self):
        command = self.command()
        with open(self.home / "console.log", "ab") as out:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.home)
        self.wait_for(lambda text: "InitGame:" in text, 60, "the server's first game")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def rcon(self, command):
        """Sends a command; what it did is read from the log, since answers are rationed."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            packet = b"\xff" * 4 + f"rcon {self.password} {command}".encode()
            line.sendto(packet, ("127.0.0.1", self.port))

    def mark(self):
        """From here on the log is news."""
        self.offset = self.log.stat().st_size if self.log.exists() else 0

    def news(self):
        if not self.log.exists():
            return ""
        with open(self.log, "rb") as log:
            log.seek(self.offset)
            return log.read().decode("latin-1")

    def wait_for(self, condition, limit, what, again=None):
        """Waits until the news fulfil the condition; repeats the command `again` every 3 seconds."""
        began = asked = time.monotonic()
        while True:
            text = self.news()
            if condition(text):
                return text
            now = time.monotonic()
            if self.process.poll() is not None:
                raise RuntimeError(f"the server has ended; see {self.home}/console.log")
            if now - began > limit:
                raise TimeoutError(f"{what} did not come within {limit} s")
            if again and now - asked > 3:
                self.rcon(again)
                asked = now
            time.sleep(0.1)

    def warm_up(self, level, teams, skills):
        """Loads a level with these bots; returns when all are there and warming up."""
        self.mark()
        # In turns, since whoever comes first acts first in every frame.
        order = [(bot, colour) for pair in zip(*teams.values()) for bot, colour in zip(pair, teams)]
        lines = [f"addbot {bot} {skills[bot]} {colour}" for bot, colour in order]
        start = [SLOW, "kick allbots", "wait 5", f"devmap {level}", "wait 5", *lines, ""]
        self.write("match.cfg", "\n".join(start))
        self.rcon("exec match.cfg")
        self.wait_for(lambda text: "InitGame:" in text, 30, "the level", again="exec match.cfg")
        everybody = sum(len(bots) for bots in teams.values())
        self.wait_for(lambda text: text.count("ClientBegin:") >= everybody, 30, "everybody")

    def play(self, limit):
        """Plays the game that was warmed up for: the score, who was on which team, and its minutes."""
        self.mark()
        self.rcon("exec fast.cfg")
        try:
            self.wait_for(lambda text: "InitGame:" in text, 60, "the end of the warm-up", again="exec fast.cfg")
            text = self.wait_for(lambda text: text.count(" score: ") >= 8, limit, "the end of the game")
        finally:
            self.rcon("exec slow.cfg")
        game = text[text.index("InitGame:"):]
        red, blue = re.search(r"red:(-?\d+)\s+blue:(-?\d+)", game).groups()
        team = {}
        for _, name, side in CHANGED.findall(game[:game.index(" Exit:")]):
            team[name] = side
        sides = [sorted(name for name, side in team.items() if side == wanted) for wanted in "12"]
        minutes = re.search(r"^ *(\d+):(\d\d) Exit:", text, re.M).groups()
        began = re.search(r"^ *(\d+):(\d\d) InitGame:", text, re.M).groups()
        seconds = [60 * int(m) + int(s) for m, s in (began, minutes)]
        return [int(red), int(blue)], sides, (seconds[1] - seconds[0]) / 60
