"""An evening of two matches: ten users of a fake Discord, the bot, an instance, and the daemon, which is killed.

python3 evening.py INTEGRATIONS DAEMON:PORT    in an empty folder

Prints "bot PORT" once the bot runs; "kill" where the daemon is to be killed and started again. Reads a line for
each, when that is done. The last line is a JSON object with what has happened.
"""
import json, os, re, socket, subprocess, sys, threading, time

from fake import APPLICATION, GUILD, TOKEN, Fake, command

INTEGRATIONS, DAEMON = sys.argv[1:3]
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
CHANNEL = "300000000000000001"
USERS = [f"50000000000000000{n}" for n in range(10)]
# The bot as it is, but for a request to Discord that may take five seconds instead of ten.
BOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); import bot, rest; rest.LIMIT = 5.0; bot.main()"
CONFIG = """
listen = "127.0.0.1:0"
[discord]
application = "%s"
public_key = "%s"
token = "%s"
api = "%s"
[daemon]
address = "%s"
[webhook]
secret = "%s"
[[channel]]
guild = "%s"
channel = "%s"
queue = "pickup"
[[channel.option]]
name = "tier"
type = "integer"
required = true
min = 1
max = 10
"""


def say(line):
    """Prints a line, and waits until the test has done what it asks for."""
    print(line, flush=True)
    assert sys.stdin.readline(), "the test has ended"


class Evening:
    def __init__(self):
        self.fake = Fake([429, 500, "hang", "lost"])
        self.number, self.answers, self.passes = 600000000000000000, 0, []
        keys = (APPLICATION, self.fake.public_key(), TOKEN, self.fake.api, DAEMON, SECRET, GUILD, CHANNEL)
        with open("bot.toml", "w", encoding="utf-8") as file:
            file.write(CONFIG % keys)
        self.bot, self.url = None, None

    def start_bot(self):
        run = [sys.executable, "-c", BOT, os.path.join(INTEGRATIONS, "discord"), "bot.toml"]
        subprocess.run([*run, "--register"], check=True, stdout=subprocess.DEVNULL)
        names = [one["name"] for one in self.fake.commands]
        assert names == ["join", "leave", "status", "accept", "decline"], names
        tier = {"type": 4, "name": "tier", "description": "tier", "min_value": 1, "max_value": 10}
        assert self.fake.commands[0]["options"] == [tier], self.fake.commands
        self.bot = subprocess.Popen(run, stderr=subprocess.PIPE, text=True)
        line = self.bot.stderr.readline()
        while "listening on" not in line:
            assert line, "the bot has ended"
            line = self.bot.stderr.readline()
        self.url = "http://" + line.split("listening on ")[1].strip()
        threading.Thread(target=lambda: [sys.stderr.write(f"bot: {one}") for one in self.bot.stderr], daemon=True).start()

    def ask(self, user, name, **options):
        """What the user is answered, which nobody else sees."""
        self.number += 1
        status, answer = self.fake.send(self.url, command(user, name, self.number, **options))
        assert status == 200 and answer["type"] == 4 and answer["data"]["flags"] & 64, answer
        assert answer["data"]["allowed_mentions"]["parse"] == []
        self.answers += 1
        return answer["data"]["content"]

    def persist(self, user, name, wanted, **options):
        """Asks again until the answer is as it must become."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            said = self.ask(user, name, **options)
            if re.search(wanted, said):
                return said
            threading.Event().wait(0.05)
        raise AssertionError(f"{name}: {said}")

    def strangers(self):
        """Requests that are not Discord's, or not for this bot."""
        good = command(USERS[0], "status", 1)
        assert self.fake.send(self.url, {"type": 1})[1] == {"type": 1}
        assert self.fake.send(self.url, good, age=400)[0] == 401
        assert self.fake.send(self.url, good, spoil=lambda text: text[:-1] + "0z"[text[-1] == "0"])[0] == 401
        for wrong in ("", "zz", "00" * 64):
            assert self.fake.send(self.url, good, spoil=lambda text: wrong)[0] == 401
        assert self.fake.send(self.url, {**good, "application_id": "1"})[0] == 400
        assert self.fake.send(self.url, [1])[0] == 400
        assert "no queue" in self.ask(USERS[0], "join", channel="300000000000000009")
        assert "state tier" in self.ask(USERS[0], "join")
        assert "no kind" in self.ask(USERS[0], "join", tier=3, kind=2)
        assert "not in this queue" in self.ask(USERS[0], "leave")

    def play(self, users, match):
        """Every user asks where the match is, and goes there. Returns the connections."""
        there = []
        for user in users:
            said = self.persist(user, "status", rf"Your match {match} is at")
            host, port, secret = re.search(r"`([\d.]+):(\d+)`\. Your pass: `(\w+)`", said).groups()
            self.passes.append(secret)
            there.append((user, host, int(port), secret))
        return there

    def go(self, there):
        """The players connect, and play to the end. If the connection is lost, they connect again."""
        def one(user, host, port, secret):
            until = time.monotonic() + 60
            while time.monotonic() < until:
                try:
                    with socket.create_connection((host, port), timeout=60) as link:
                        link.sendall(f"{secret} discord-{user}\n".encode())
                        if "over\n" in link.makefile().readlines():
                            return
                except OSError:
                    pass
                threading.Event().wait(0.1)
        threads = [threading.Thread(target=one, args=player, daemon=True) for player in there]
        for thread in threads:
            thread.start()

    def hosted(self, seen):
        """The message that pings the teams of the next match."""
        said = self.fake.wait(lambda text: "/status" in text and not any(f"Match {old}*" in text for old in seen))
        assert said["allowed_mentions"]["users"] == sorted(USERS), said
        assert all(f"<@{user}>" in said["content"] for user in USERS) and "127.0.0.1" in said["content"]
        return re.match(r"\*\*Match (\d+)\*\*", said["content"])[1]

    def result(self, match):
        said = self.fake.wait(lambda text: f"Match {match}*" in text and "/status" not in text)
        assert said["allowed_mentions"]["users"] == [], "a result pings nobody"
        assert re.search(r"has won|A draw", said["content"]) and "Closeness: " in said["content"], said
        return said["content"]

    def run(self):
        self.start_bot()
        say("bot " + self.url.rsplit(":", 1)[1])
        self.strangers()
        instance = [sys.executable, os.path.join(INTEGRATIONS, "instance", "instance.py"), DAEMON, "arena"]
        instance = subprocess.Popen([*instance, "--slots", "4", "--seconds", "0.4"], stdout=subprocess.DEVNULL)
        try:
            for user in USERS[:5]:
                self.persist(user, "join", "You wait in pickup|in this queue already", tier=5)
            assert "in this queue already" in self.ask(USERS[0], "join", tier=5)
            assert "have left the queue" in self.ask(USERS[0], "leave")
            say("kill")
            self.persist(USERS[0], "join", "You wait in pickup", tier=5)
            for user in USERS[5:]:
                self.persist(user, "join", "You wait in pickup|in this queue already", tier=5)
            one = self.hosted([])
            self.go(self.play(USERS, one))
            results = [self.result(one)]
            for user in USERS:
                self.persist(user, "join", "You wait in pickup|in this queue already. You have waited", tier=5)
            two = self.hosted([one])
            there = self.play(USERS, two)
            say("kill")
            self.go(there)
            results.append(self.result(two))
        finally:
            instance.kill()
            self.bot.kill()
        texts = [body["content"] for _, body in self.fake.messages]
        assert not any(secret in text for secret in self.passes for text in texts), "a pass was posted"
        assert self.fake.faults == [], self.fake.faults
        assert len(texts) == len(set(texts)), texts
        print(json.dumps({"matches": [one, two], "messages": len(texts), "requests": self.fake.asked,
                          "answers": self.answers, "results": results}), flush=True)


Evening().run()
