"""A Nexuiz server on loopback."""

import os
import secrets
import signal
import socket
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "openarena"))
from server import free_port

PROGRAM = "/usr/games/nexuiz-server"
# Team deathmatch with bots, five times as fast. A sidecar has the first seconds of each game to choose teams.
MAP = "dieselpower"
RULES = f"""hostname evenkeel
sv_public 0
sv_eventlog 1
sv_eventlog_files 1
sv_logscores_bots 1
g_tdm 1
bot_join_empty 1
g_balance_teams 0
g_balance_teams_force 0
g_start_delay 15
g_maplist "{MAP}"
slowmo 5
"""


class Server:
    def __init__(self, folder, rules):
        self.folder = Path(folder)
        self.home = self.folder / "nexuiz"
        self.data = self.home / ".nexuiz/data"
        self.data.mkdir(parents=True, exist_ok=True)
        # A log for each match.
        self.logs = self.data / "data"
        self.port = free_port(socket.SOCK_DGRAM)
        self.password_file = self.folder / "rcon-password"
        self.password_file.touch(mode=0o600)
        password = secrets.token_hex(12)
        self.password_file.write_text(password + "\n")
        text = f"net_address 127.0.0.1\nport {self.port}\nrcon_password {password}\n{RULES}{rules}"
        (self.data / "server.cfg").write_text(text)
        self.process = None

    def start(self):
        """As root, the server is run as `games`, who then owns its files."""
        command = [PROGRAM, "+exec", "server.cfg", "+map", MAP]
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", "games:games", self.home], check=True)
            command = ["setpriv", "--reuid=games", "--regid=games", "--clear-groups", *command]
        with open(self.folder / "nexuiz.log", "ab") as out:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.home,
                env={**os.environ, "HOME": str(self.home)}, start_new_session=True)

    def stop(self):
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(15)
