"""Prints what passes between the sidecar, the daemon and the game server, and passes it on unchanged."""

import socket
import threading
import time

# Requests and replies that say nothing about teams, and reasons, which players ask for.
QUIET = ("PING", "PONG", "KILL", "SCORE", "POINTS", "DEATH", "MINPLAYERS", "EXPLAIN", "WHY")


class Transcript:
    """Lines with the time since the start and where they came from, printed and kept."""

    def __init__(self):
        self.began = time.monotonic()
        self.lock = threading.Lock()
        self.lines = []
        self.names = {}

    def add(self, source, text, show=True):
        with self.lock:
            self.lines.append((source, text))
            if show:
                for guid, name in self.names.items():
                    text = text.replace(guid, f"<{name}>")
                print(f"{time.monotonic() - self.began:6.1f}  {source:<10} {text}", flush=True)

    def mark(self):
        return len(self.lines)

    def since(self, mark, source):
        """What came from a source after the mark."""
        with self.lock:
            return [text for origin, text in self.lines[mark:] if origin == source]


class DaemonTap:
    """A port in front of the daemon's."""

    def __init__(self, transcript, port):
        self.transcript, self.target = transcript, ("127.0.0.1", port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            sidecar, _ = self.listener.accept()
            daemon = socket.create_connection(self.target)
            for ends, source in (((sidecar, daemon), "> daemon"), ((daemon, sidecar), "< daemon")):
                threading.Thread(target=self.pump, args=(*ends, source), daemon=True).start()

    def pump(self, there, here, source):
        rest = b""
        try:
            while data := there.recv(65536):
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    text = line.decode("utf-8", "replace")
                    # The deaths of humans can be reasons for moves.
                    human = text.startswith("DEATH") and any(guid in text for guid in self.transcript.names)
                    self.transcript.add(source, text, human or not text.startswith(QUIET))
                here.sendall(data)
        except OSError:
            pass
        finally:
            here.close()


class ConsoleTap:
    """A port in front of the game server's. Shows the commands in the file that the server is to execute."""

    def __init__(self, transcript, server):
        self.transcript, self.folder, self.target = transcript, server.files, ("127.0.0.1", server.port)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        sidecar = None
        while True:
            packet, sender = self.socket.recvfrom(65536)
            if sender == self.target:
                if sidecar:
                    self.socket.sendto(packet, sidecar)
                continue
            sidecar = sender
            for command in (self.folder / f"evenkeel-{self.port}.cfg").read_text().splitlines():
                self.transcript.add("> console", command)
            self.socket.sendto(packet, self.target)
