"""Real OpenArena clients without a screen: under Xvfb, as small as can be, driven through a pipe."""

import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path

PROGRAM = "/usr/lib/ioquake3/ioquake3"
DATA = "/usr/lib/openarena"
# A tiny window, no sound, 20 frames a second: a client takes a few per cent of a core.
SETTINGS = {
    "com_basegame": "baseoa", "com_homepath": ".openarena", "com_legacyprotocol": 71, "com_protocol": 71,
    "fs_basepath": DATA, "cl_motd": 0, "com_introplayed": 1, "ttycon": 0, "s_initsound": 0, "cl_renderer": "opengl1",
    "r_fullscreen": 0, "r_mode": -1, "r_customwidth": 64, "r_customheight": 48, "r_picmip": 16, "r_vertexLight": 1,
    "com_maxfps": 20, "com_maxfpsUnfocused": 20, "com_maxfpsMinimized": 20, "logfile": 2, "com_pipefile": "pipe",
    "cl_guidServerUniq": 0,
}


def missing():
    """What has to be installed, or None."""
    for program in (PROGRAM, "Xvfb"):
        if not shutil.which(program):
            return f"{program} is not installed (packages openarena and xvfb)"
    return None


def key(name):
    """The content of a client's file `qkey`."""
    return (name.encode() * 2048)[:2048]


def guid(name):
    """The guid that the server sees: the digest of the file."""
    return hashlib.md5(key(name)).hexdigest().upper()


class Display:
    """A screen in memory."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "320x240x24", "-nolisten", "tcp"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        number = self.process.stdout.readline().decode().strip()
        if not number:
            raise RuntimeError("Xvfb does not start")
        self.name = f":{number}"

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


class Client:
    """One player's program. The file `qkey` decides its guid, by which the server knows the player."""

    def __init__(self, folder, name, display, port, password=""):
        self.name = name
        self.home = Path(folder) / f"client-{name}"
        files = self.home / "baseoa"
        files.mkdir(parents=True)
        (self.home / "qkey").write_bytes(key(name))
        self.guid = guid(name)
        self.pipe, self.console = files / "pipe", files / "qconsole.log"
        settings = {**SETTINGS, "fs_homepath": self.home, "name": name, "password": password}
        command = ["nice", PROGRAM]
        for setting, value in settings.items():
            command += ["+set", setting, str(value)]
        command += ["+connect", f"127.0.0.1:{port}"]
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", "games:games", self.home], check=True)
            command = ["setpriv", "--reuid=games", "--regid=games", "--clear-groups", *command]
        with open(self.home / "output.log", "wb") as out:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.home,
                env={**os.environ, "DISPLAY": display.name, "HOME": str(self.home)})

    def do(self, command):
        """Types a command into the client's console."""
        until = time.monotonic() + 20
        while True:
            if self.process.poll() is not None:
                raise RuntimeError(f"the client of {self.name} has ended; see {self.home}/output.log")
            try:
                pipe = os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError:  # The client has not opened its end yet.
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)
        os.write(pipe, command.encode() + b"\n")
        os.close(pipe)

    def sees(self):
        """What the game has shown to the player so far."""
        return self.console.read_text("latin-1") if self.console.exists() else ""

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
