"""The daemon, over its line protocol: a connection for questions, and one that listens."""
import logging, re, socket, threading, time

LIMIT = 2.0  # seconds that a question may take: Discord wants an answer within three
HEARTBEAT = 60.0  # seconds between two PINGs of the connection that listens
LONGEST = 65_536  # bytes of a line


class Refused(Exception):
    """The daemon has answered ERROR: the code, and the text for people."""

    def __init__(self, line):
        words = line.split(" ", 2)
        super().__init__(words[2] if len(words) > 2 else line)
        self.code = words[1] if len(words) > 1 else ""


def words(line):
    found = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', line)
    return [bare or re.sub(r"\\(.)", r"\1", quoted) for quoted, bare in found]


def quoted(text):
    text = str(text)
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise ValueError("a line must not contain control characters")
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


class Line:
    """A connection that has said HELLO."""

    def __init__(self, settings, limit):
        self.socket = socket.create_connection(settings.daemon, timeout=limit)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""
        token = [quoted(settings.daemon_token)] if settings.daemon_token else []
        try:
            self.ask([" ".join(["HELLO", quoted(settings.name), *token])], time.monotonic() + limit)
        except BaseException:
            self.close()
            raise

    def close(self):
        self.socket.close()

    def send(self, lines):
        self.socket.sendall(("\n".join(lines) + "\n").encode())

    def read(self, until):
        """The next line. Fails at this time."""
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or len(self.rest) > LONGEST:
                raise TimeoutError("no line in time")
            self.socket.settimeout(left)
            more = self.socket.recv(65_536)
            if not more:
                raise ConnectionError("the daemon has closed the connection")
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode("utf-8", "replace").rstrip("\r")

    def ask(self, lines, until):
        """Sends lines, and returns those of the reply. PONG ends it."""
        self.send([*lines, "PING"])
        reply = []
        while (line := self.read(until)) != "PONG":
            reply.append(line)
        if refused := next((line for line in reply if line.startswith("ERROR ")), None):
            raise Refused(refused)
        return [words(line) for line in reply]


class Asker:
    """Asks questions one after the other, over a connection that is opened again when it is lost."""

    def __init__(self, settings):
        self.settings, self.line, self.lock = settings, None, threading.Lock()

    def ask(self, *lines):
        """The reply's lines as words. Everything that the bot asks may be said twice, so a lost reply is asked again."""
        until = time.monotonic() + LIMIT
        if not self.lock.acquire(timeout=LIMIT):
            raise TimeoutError("the daemon takes too long")
        try:
            for last in (False, True):
                try:
                    if self.line is None:
                        self.line = Line(self.settings, max(until - time.monotonic(), 0.1))
                    return self.line.ask(lines, until)
                except OSError:
                    if self.line:
                        self.line.close()
                    self.line = None
                    if last or time.monotonic() >= until:
                        raise
        finally:
            self.lock.release()


class Ear(threading.Thread):
    """Listens for what happens to the bot's tickets. Calls `push` with the words of each push."""

    def __init__(self, settings, push):
        super().__init__(daemon=True, name="ear")
        self.settings, self.push = settings, push

    def run(self):
        wait = 0.1
        while True:
            try:
                line = Line(self.settings, 5.0)
                line.send(["LISTEN"])
                wait = 0.1
                self.listen(line)
            except (OSError, Refused) as error:
                logging.warning("the daemon cannot be heard: %s", error)
            time.sleep(wait)
            wait = min(2 * wait, 10.0)

    def listen(self, line):
        try:
            while True:
                try:
                    heard = line.read(time.monotonic() + HEARTBEAT)
                except TimeoutError:
                    # A daemon that lives answers; then this ends at the latest with the next heartbeat.
                    line.send(["PING"])
                    heard = line.read(time.monotonic() + HEARTBEAT)
                if heard.startswith("* "):
                    self.push(words(heard[2:]))
        finally:
            line.close()
