"""Follows docs/tutorials/openarena.md word by word: runs its commands, and compares what they print with the page.

    python3 integrations/openarena/evening.py --evenkeel PROGRAM

Needs Debian's openarena-server and takes three minutes, or longer if both teams have the same score after two. The home
is a new folder, all ports are free ones on loopback, and a match lasts two minutes instead of five; everything else is as
on the page. As root, the game server runs as `games`.
"""

import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from story import assert_picked

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "openarena.md"
NOT_HERE = ("sudo ", "mkdir -p ~/evening")
# What the sidecar prints only if players have to be moved.
IF_MOVED = ("0 command to the game server", "the game server answers: ")


def sections(text):
    """The page by its numbered headings: for each the commands, and the texts that it says one sees."""
    found = {}
    for part in re.split(r"^## (?=\d)", text, flags=re.M)[1:]:
        shown = re.findall(r"```text\n(.*?)```", part, re.S)
        plain = re.sub(r"```.*?```", "", part, flags=re.S)
        blocks = re.findall(r"(?:^    .*\n)+", plain, re.M)
        found[part.split(".")[0]] = ([re.sub(r"^    ", "", block, flags=re.M) for block in blocks], shown)
    return found


def alike(line):
    """A line without its times, numbers and folder."""
    line = re.sub(r"^\S+Z +(?=INFO)", "", line.strip())
    line = re.sub(r"/\S*/\.openarena", "HOME", line)
    return re.sub(r"\bcommands?\b", "command", re.sub(r"\d[\d.:TZ-]*", "0", line))


class Evening:
    def __init__(self, folder, program):
        self.home, self.programs, self.logs, self.seen = folder, [], {}, {}
        tools = folder / "bin"
        tools.mkdir()
        shutil.copy(program, tools / "evenkeel")
        self.ports = {}
        for usual, kind in ((27960, socket.SOCK_DGRAM), (7997, socket.SOCK_STREAM), (7998, socket.SOCK_STREAM)):
            with socket.socket(socket.AF_INET, kind) as probe:
                probe.bind(("127.0.0.1", 0))
                self.ports[str(usual)] = str(probe.getsockname()[1])
        self.env = {
            "HOME": str(folder), "PATH": f"{tools}:{os.environ['PATH']}", "EVENKEEL_SYSTEM_CONFIG": "",
            "EVENKEEL_LISTEN": f"127.0.0.1:{self.ports['7997']}",
            "EVENKEEL_WEB_LISTEN": f"127.0.0.1:{self.ports['7998']}",
        }
        (folder / "evening").mkdir()

    def here(self, command):
        """The command with this run's ports, and with shorter matches."""
        for usual, port in self.ports.items():
            command = command.replace(usual, port)
        command = command.replace("+set dedicated 1", f"+set dedicated 1 +set net_port {self.ports['27960']}")
        command = command.replace("sidecar idtech3", f"sidecar idtech3 --daemon 127.0.0.1:{self.ports['7997']}")
        return command.replace("timelimit 5", "timelimit 2")

    def run(self, command):
        print("$", command.strip(), flush=True)
        done = subprocess.run(
            ["bash", "-euc", self.here(command)], cwd=self.home / "evening", env=self.env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
        print(done.stdout, end="", flush=True)
        return done.stdout

    def start(self, name, command):
        print("$", command.strip(), flush=True)
        whole = ["bash", "-euc", f"exec {self.here(command)}"]
        if name == "game" and os.getuid() == 0:
            subprocess.run(["chown", "-R", "games:games", self.home / ".openarena"], check=True)
            whole = ["setpriv", "--reuid=games", "--regid=games", "--clear-groups", *whole]
        self.logs[name] = self.home / f"{name}.log"
        with open(self.logs[name], "wb") as out:
            self.programs.append(subprocess.Popen(
                whole, cwd=self.home / "evening", env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                start_new_session=True))

    def sees(self, name, text, seconds):
        """Waits until the program has printed these lines, in this order and after those seen before; for each of them
        at most this many seconds."""
        wanted = [alike(line) for line in text.splitlines() if line.strip()]
        wanted = [line for line in wanted if not line.startswith(IF_MOVED)]
        until = time.monotonic() + seconds
        while wanted:
            printed = self.logs[name].read_text(encoding="utf-8", errors="replace").splitlines()
            at = self.seen.get(name, 0)
            if len(printed) > at:
                self.seen[name] = at + 1
                print(f"  {name}: {printed[at]}", flush=True)
                if alike(printed[at]) == wanted[0]:
                    wanted.pop(0)
                    until = time.monotonic() + seconds
                continue
            if time.monotonic() > until:
                self.tell()
                raise SystemExit(f"{name} has not printed: {wanted}")
            time.sleep(0.2)

    def waits(self, name, text, seconds):
        """Waits until the program has printed this text."""
        until = time.monotonic() + seconds
        while text not in self.logs[name].read_text(encoding="utf-8", errors="replace"):
            if time.monotonic() > until:
                raise SystemExit(f"{name} has not printed: {text}")
            time.sleep(0.2)

    def tell(self):
        """Prints what each program has printed last."""
        for name, log in self.logs.items():
            for line in log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]:
                print(f"  last lines of {name}: {line}", flush=True)

    def stop(self):
        for program in reversed(self.programs):
            os.killpg(program.pid, signal.SIGTERM)
        for program in self.programs:
            try:
                program.wait(10)
            except subprocess.TimeoutExpired:
                program.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evenkeel", default="evenkeel", help="the program")
    program = shutil.which(parser.parse_args().evenkeel)
    steps = sections(PAGE.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        evening = Evening(Path(folder), program)
        try:
            game, daemon, sidecar, ended, learned = (steps[str(number)] for number in range(1, 6))
            *before, start = [block for block in game[0] if not block.startswith(NOT_HERE)]
            for command in before:
                evening.run(command)
            evening.start("game", start)
            evening.waits("game", "Sarge^7 entered the game", 60)
            preset, serve = daemon[0][0].split("\n", 1)
            evening.run(preset)
            evening.start("daemon", serve)
            evening.sees("daemon", daemon[1][0], 20)
            password, connect = sidecar[0][0].split("\n", 1)
            evening.run(password)
            evening.start("sidecar", connect)
            evening.sees("sidecar", sidecar[1][0], 20)
            # On a slow machine the bots play before the sidecar is there: the page says that it waits for the next warm-up.
            evening.sees("sidecar", sidecar[1][1], 600)
            # Teams that are even after two minutes play until one of them captures a flag.
            evening.sees("sidecar", ended[1][0], 600)
            printed = [evening.run(command.replace("cd ~/evening\n", "")) for command in ended[0]]
            assert re.search(r"│ 1 ┆ \w+ +┆ \w+ +┆ 5[1-4]\.", printed[0]), "the winners have more than 50"
            for command in learned[0]:
                evening.run(command)
            assert_picked(evening.home / "evening" / "evenkeel.db")
        finally:
            evening.stop()
    print("everything on the page happened")


if __name__ == "__main__":
    main()
