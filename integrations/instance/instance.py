"""An instance: a game server that hosts matches of Evenkeel's queues. Copy it and replace the simulated game.

python3 instance.py HOST:PORT NAME [--slots 4] [--seconds 1.0] [--token TOKEN]

It needs at least two slots: each match has a connection of its own to the daemon. Players connect to a port
of this program and send one line, "<pass> <player>". They are sent "team <t>", "start" and "over". If a player
disconnects in play, the instance seeks another one from the queue (BACKFILL). All that happens is printed as
one JSON object on a line.
"""
import argparse, json, random, re, socket, socketserver, threading, time

ARGS = argparse.ArgumentParser()
ARGS.add_argument("daemon")
ARGS.add_argument("name")
ARGS.add_argument("--slots", type=int, default=4)
ARGS.add_argument("--seconds", type=float, default=1.0, help="how long a game lasts")
ARGS.add_argument("--token")


def note(event, **facts):
    print(json.dumps({"event": event, "at": time.time(), **facts}), flush=True)


def words(line):
    found = re.findall(r'((?:[^\s"]|"(?:[^"\\]|\\.)*")+)', line)
    plain = lambda text: re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text
    return [plain(word) for word in found]


def quoted(text):
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


class Refused(Exception):
    """The daemon has answered ERROR."""


class Line:
    """A connection to the daemon. Lines that begin with "* " go to `push`."""

    def __init__(self, args, options, push=None):
        host, port = args.daemon.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=10)
        # For reading only: a file for both forgets what it has read ahead when it writes, such as a push behind a PONG.
        self.file = self.socket.makefile("r", encoding="utf-8", newline="\n")
        self.push = push
        token = [args.token] if args.token else []
        self.hello = self.ask(" ".join(["HELLO", args.name, *token, *options]))

    def ask(self, command):
        """Sends a line and waits until it is carried out. Returns the first line of the reply, if any."""
        self.socket.sendall(f"{command}\nPING\n".encode())
        reply = None
        while (line := self.read()) != "PONG":
            reply = reply or line
        if reply and reply.startswith("ERROR "):
            raise Refused(reply)
        return reply

    def read(self):
        while True:
            line = self.file.readline()
            if not line.endswith("\n"):
                raise ConnectionError("the daemon closed the connection")
            if line.startswith("* "):
                self.push(words(line[2:]))
            else:
                return line.rstrip("\n")


class Match:
    """A match from SESSION to END."""

    def __init__(self, instance, number):
        self.instance, self.number = instance, number
        self.players = {}  # player: (team, pass)
        self.joined = {}  # player: connection
        self.arrived = []  # players who are not reported yet
        self.gone = []  # players who have left and are not reported yet
        self.lock = threading.Condition()
        self.dropped = self.started = self.begun = False
        self.connection, self.sent = None, []

    def admit(self, player, secret, connection):
        """Whether the pass is the player's. A player who comes again replaces the old connection."""
        with self.lock:
            team, own = self.players.get(player, (None, None))
            if self.dropped or not own or own != secret:
                return False
            self.joined[player] = connection
            self.arrived.append(player)
            connection.sendall(b"team %d\n" % team)
            if self.started:
                connection.sendall(b"start\n")
            self.lock.notify_all()
            return True

    def leave(self, player, connection):
        """The player's connection has ended. In play, another player is sought."""
        with self.lock:
            if self.started and self.joined.get(player) is connection:
                del self.joined[player]
                self.gone.append(player)

    def push(self, line):
        """JOIN and LEAVE on the game's connection: players of the queue are sent to free seats, or do not come."""
        options = dict(word.split("=", 1) for word in line[2:])
        with self.lock:
            if line[0] == "JOIN":
                self.players[line[1]] = (int(options["team"]), options["pass"])
            elif line[0] == "LEAVE":
                # The seat is taken, or the player is too late: the pass is void, also if the player is here.
                self.players.pop(line[1], None)
                if connection := self.joined.pop(line[1], None):
                    connection.close()

    def refill(self):
        """Reports who has come and left, and seeks players for the seats of those who have left."""
        with self.lock:
            arrived, self.arrived = self.arrived, []
            gone, self.gone = self.gone, []
        for player in arrived:
            if player in self.players:
                self.step("JOIN " + quoted(player))
                note("late", match=self.number, player=player)
        for player in gone:
            team, _ = self.players.pop(player, (None, None))
            if team is None:
                continue
            self.step("LEAVE " + quoted(player))
            note("left", match=self.number, player=player)
            free = self.size - sum(1 for one in self.joined if self.players.get(one, (None,))[0] == team)
            reply = self.step(f"BACKFILL {self.number} {team} {free}")
            note("backfill", match=self.number, team=team, reply=reply)
        try:
            self.connection.ask("")  # reads pushes
        except OSError:
            self.connection = None
            self.step(None)

    def drop(self):
        with self.lock:
            self.dropped = True
            self.lock.notify_all()

    def tell(self, line):
        for connection in list(self.joined.values()):
            try:
                connection.sendall(line)
            except OSError:
                pass

    def run(self):
        try:
            self.play()
        except Refused as error:
            note("refused", match=self.number, why=str(error))
        finally:
            self.instance.forget(self)
            for connection in self.joined.values():
                connection.close()

    def play(self):
        note("open", match=self.number)
        self.step(None)
        here = 0
        while here < len(self.players):
            with self.lock:
                self.lock.wait_for(lambda: self.dropped or self.arrived, timeout=1)
                arrived, self.arrived = self.arrived, []
                here = len(self.joined)
            if self.dropped:
                return note("dropped", match=self.number)
            for player in arrived:
                self.step("JOIN " + quoted(player))
        self.size = max(1, len(self.players) // 2)
        self.step("START")
        with self.lock:
            self.started, self.arrived = True, []
        note("start", match=self.number, players=sorted(self.players))
        self.tell(b"start\n")
        goals = random.randint(1, 4)
        for _ in range(goals):
            until = time.time() + self.instance.args.seconds / goals
            while time.time() < until:
                time.sleep(0.05)
                self.refill()
            self.step(f"SCORE {random.randint(0, 1)}")
        reply = self.step("END")
        note("end", match=self.number, reply=reply, players=sorted(self.players))
        self.tell(b"over\n")

    def step(self, command):
        """Sends a command until it is carried out, over as many connections as that takes."""
        while True:
            try:
                if self.connection is None:
                    self.connect()
                reply = self.connection.ask(command) if command else None
            except OSError:
                self.connection = None
                time.sleep(0.1)
                continue
            except Refused as error:
                repeated = command == "START" and "not-allowed" in str(error)
                if not (repeated and "START" not in self.sent):
                    raise
                reply = None  # the daemon has carried out the START whose PONG was lost
            if command:
                self.sent.append(command)
            return reply

    def connect(self):
        options = [f"match={self.number}", "resume=yes", "bots=no"]
        self.connection = Line(self.instance.args, options, self.push)
        if self.connection.hello.endswith(" new"):
            for command in self.sent:
                self.connection.ask(command)


class Players(socketserver.BaseRequestHandler):
    def handle(self):
        line = self.request.makefile("r", encoding="utf-8").readline()
        secret, _, player = line.rstrip("\n").partition(" ")
        matches = list(self.server.instance.matches.values())
        own = [match for match in matches if match.admit(player, secret, self.request)]
        if own:
            note("joined", player=player)
            # Until the player leaves or the game is over.
            try:
                self.request.recv(1)
            except OSError:
                pass
            own[0].leave(player, self.request)
        else:
            self.request.sendall(b"no\n")


class Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 128


class Instance:
    def __init__(self, args):
        self.args, self.matches, self.session = args, {}, None
        self.lock = threading.Lock()
        self.port = Listener(("127.0.0.1", 0), Players)
        self.port.instance = self
        threading.Thread(target=self.port.serve_forever, daemon=True).start()

    def forget(self, match):
        with self.lock:
            if self.matches.get(match.number) is match:
                del self.matches[match.number]

    def push(self, line):
        """SESSION, its JOIN lines, or CLOSE."""
        if line[0] == "SESSION":
            number, players = int(line[1]), int(line[5])
            with self.lock:
                self.session = (self.matches.get(number) or Match(self, number), {}, players)
        elif line[0] == "JOIN":
            match, players, count = self.session
            options = dict(word.split("=", 1) for word in line[2:])
            players[line[1]] = (int(options["team"]), options["pass"])
            if len(players) == count:
                self.open(match, players)
        elif line[0] == "CLOSE" and (match := self.matches.get(int(line[1]))):
            match.drop()

    def open(self, match, players):
        """Hosts the match, or answers again if this is the same match as before."""
        with self.lock:
            self.matches[match.number] = match
        with match.lock:
            match.players = players
        self.answers.append(f"READY {match.number}")

    def begin(self, match):
        """The daemon knows that the match is here: its connection may open."""
        if match and not match.begun:
            match.begun = True
            threading.Thread(target=match.run, daemon=True).start()

    def run(self):
        while True:
            try:
                self.talk()
            except OSError as error:
                note("lost", why=str(error))
                time.sleep(0.1)

    def talk(self):
        """One connection to the daemon, until it is lost."""
        self.answers = []
        line = Line(self.args, ["bots=no"], self.push)
        address = "%s:%d" % self.port.server_address
        line.ask(f"INSTANCE {address} slots={self.args.slots}")
        note("instance", address=address)
        while True:
            # PING keeps the connection alive, and pushes are read with its PONG.
            answers, self.answers = self.answers, []
            for answer in answers:
                match = self.matches.get(int(answer.split()[1]))
                try:
                    line.ask(answer)
                    self.begin(match)
                except Refused as error:
                    note("refused", line=answer, why=str(error))
                    if match:
                        match.drop()
            # A match that has just ended may still be counted here.
            line.ask("LOAD %.3f" % min(1, len(self.matches) / self.args.slots))
            if not self.answers:
                time.sleep(0.02)


Instance(ARGS.parse_args()).run()
