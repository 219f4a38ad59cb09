#!/usr/bin/env python3
"""Eight bots on a real Nexuiz server, whose teams Evenkeel keeps even, by the sidecar for Xonotic.

    integrations/nexuiz/live.py --evenkeel target/release/evenkeel [--keep DIR]

Prints a transcript: requests (>) and replies (<) of the daemon, and a line `proved:` for each point. About two minutes; needs
Debian's package nexuiz-server. All ports are on loopback.
"""

import os
import secrets
import signal
import socket
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "openarena"))
from season import Program
from server import free_port
from story import Story, run
from tap import DaemonTap

PROGRAM = "/usr/games/nexuiz-server"
# Team deathmatch to 10 points, five times as fast. The sidecar has the first seconds of each game to choose teams.
MAP = "dieselpower"
RULES = f"""hostname evenkeel
sv_public 0
sv_eventlog 1
sv_eventlog_files 1
sv_logscores_bots 1
g_tdm 1
fraglimit_override 10
timelimit_override 5
skill 5
bot_number 8
bot_join_empty 1
g_balance_teams 0
g_balance_teams_force 0
g_start_delay 15
g_maplist "{MAP}"
slowmo 5
"""
LIMIT = 120


class Live(Story):
    limit = LIMIT

    def __init__(self, evenkeel, folder):
        super().__init__(evenkeel, folder)
        self.home = self.folder / "nexuiz"
        self.logs = self.home / ".nexuiz/data"
        self.logs.mkdir(parents=True)
        self.port = free_port(socket.SOCK_DGRAM)
        self.password_file = self.folder / "rcon-password"
        self.password_file.touch(mode=0o600)
        password = secrets.token_hex(12)
        self.password_file.write_text(password + "\n")
        text = f"net_address 127.0.0.1\nport {self.port}\nrcon_password {password}\n{RULES}"
        (self.logs / "server.cfg").write_text(text)
        self.server = self.daemon = self.sidecar = None

    def start(self):
        """As root, the server is run as `games`, who then owns its files."""
        command = [PROGRAM, "+exec", "server.cfg", "+map", MAP]
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", "games:games", self.home], check=True)
            command = ["setpriv", "--reuid=games", "--regid=games", "--clear-groups", *command]
        with open(self.folder / "nexuiz.log", "ab") as out:
            self.server = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.home,
                env={**os.environ, "HOME": str(self.home)}, start_new_session=True)
        self.begin()

    def begin(self):
        """Starts the daemon and the sidecar."""
        command = [self.evenkeel, "serve", "--db", self.folder / "evenkeel.db", "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0"]
        self.daemon = Program(command, self.folder / "daemon.log")
        found = self.daemon.wait_for(r"listening address=127\.0\.0\.1:(\d+)", self.daemon.began, LIMIT)
        tap = DaemonTap(self.transcript, int(found.group(1)))
        self.sidecar = Program(
            [self.evenkeel, "sidecar", "xonotic", "--log", self.logs / "data", "--rcon", f"127.0.0.1:{self.port}",
             "--password-file", self.password_file, "--daemon", f"127.0.0.1:{tap.port}", "--server", "live", "--settle", "0.3",
             "--opening", "3", "--treat-bots-as-players", "--move-command", "sv_cmd movetoteam {player} {team}"],
            self.folder / "sidecar.log")

    def stop(self):
        for program in (self.sidecar, self.daemon):
            if program:
                program.stop()
        if self.server and self.server.poll() is None:
            os.killpg(self.server.pid, signal.SIGTERM)
            self.server.wait(15)

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
    live.wait("its record", "< daemon", r"^END \S+ recorded", mark)
    live.proved("after kill -9 of both, the next match is recorded")
    logs = sorted((live.logs / "data").glob("*.log"))
    again = live.folder / "again.db"
    subprocess.run([live.evenkeel, "ingest", "--db", again, *logs], check=True, stdout=subprocess.DEVNULL)
    stored, read = live.scores(live.folder / "evenkeel.db"), live.scores(again)
    assert stored == read and len(stored) == 3, f"{stored} are stored, {read} are in the logs"
    live.proved(f"ingest finds the same matches in the logs: {read}")


if __name__ == "__main__":
    missing = None if os.access(PROGRAM, os.X_OK) else "nexuiz-server is not installed"
    run(__doc__, "evenkeel-nexuiz-", Live, story, missing)
