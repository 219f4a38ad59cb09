"""A pick-up night on a fake Discord: twelve people, five matches, and the bot and the daemon are killed at each step.

python3 evening.py PROGRAM BOT_FOLDER    in an empty folder

Prints a JSON object with what has happened; an assertion fails if a result is lost or doubled, or somebody is astray.
"""
import asyncio, json, os, random, re, signal, socket, subprocess, sys, time, urllib.request

from fake import Fake, buttons

PROGRAM, FOLDER = sys.argv[1:3]
PEOPLE = {f"5000000000000000{n:02}": f"Player {chr(65 + n)}" for n in range(12)}
USERS = list(PEOPLE)
TEXTS = {"300000000000000001": "pickup-a", "300000000000000002": "pickup-b"}
VOICES = {"400000000000000001": "Lobby", "400000000000000011": "A1", "400000000000000012": "A2",
          "400000000000000021": "B1", "400000000000000022": "B2"}
A, B = TEXTS
LOBBY = "400000000000000001"
ROOMS = {A: ["400000000000000011", "400000000000000012"], B: ["400000000000000021", "400000000000000022"]}
TOKEN = "discord-token"
PATIENCE = 120.0  # seconds for a step with its kills, on a busy machine
# The bot as it is, but for where Discord is.
BOT = ("import sys, yarl; sys.path.insert(0, sys.argv.pop(1)); import discord.http, discord.gateway; "
       "discord.http.Route.BASE = sys.argv.pop(1); discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(sys.argv.pop(1)); "
       "import bot; bot.main()")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Evening:
    def __init__(self):
        self.random = random.Random(7)
        self.fake = Fake(PEOPLE, TEXTS, VOICES)
        self.port, self.daemon, self.bots = free_port(), None, []
        self.kills, self.wanted = {"bot": 0, "daemon": 0}, []
        with open("evenkeel.toml", "w", encoding="utf-8") as file:
            file.write(f"[server]\nlisten = '127.0.0.1:0'\n[web]\nlisten = '127.0.0.1:{self.port}'\n[api]\nenabled = true\n"
                       f"[[clients]]\nname = 'discord'\ntoken = '{TOKEN}'\nrights = ['ask', 'report', 'queue', 'admin']\n"
                       "[queue.quick]\nteams = 2\nsize = 2\nruleset = 'futsal'\nhost = 'none'\n")
        with open("bot.toml", "w", encoding="utf-8") as file:
            file.write(f"ruleset = 'futsal'\nlobby = 'Lobby'\npoll_seconds = 0.2\n[discord]\ntoken = 'x.y.z'\n[daemon]\n"
                       f"url = 'http://127.0.0.1:{self.port}'\ntoken = '{TOKEN}'\n"
                       f"[[channel]]\nid = '{A}'\nvoice = ['A1', 'A2']\nqueue = 'quick'\n[[channel]]\nid = '{B}'\nvoice = ['B1', 'B2']\n")

    # The two programs

    def start_daemon(self):
        log = open("daemon.log", "ab")
        environment = {**os.environ, "EVENKEEL_CONFIG": "evenkeel.toml"}
        self.daemon = subprocess.Popen([PROGRAM, "serve"], stdout=log, stderr=log, env=environment)

    async def start_bot(self):
        log, before = open("bot.log", "ab"), len([one for one in self.fake.sessions if one["ready"]])
        run = [sys.executable, "-B", "-c", BOT, FOLDER, self.fake.api, self.fake.url, "bot.toml"]
        self.bots.append(subprocess.Popen(run, stdout=log, stderr=log))
        ready = lambda: len([one for one in self.fake.sessions if one["ready"]]) > before
        assert await self.fake.wait(ready, PATIENCE), "the bot does not come"

    async def kill_bot(self):
        killed = self.bots.pop(0)
        count = len(self.fake.sessions)
        killed.kill()
        killed.wait()
        await self.fake.wait(lambda: len(self.fake.sessions) < count, PATIENCE)
        self.kills["bot"] += 1
        await self.start_bot()

    async def kill_daemon(self):
        self.daemon.kill()
        self.daemon.wait()
        self.kills["daemon"] += 1
        self.start_daemon()

    async def attack(self, what):
        """Kills something a moment after somebody has clicked."""
        await asyncio.sleep(self.random.choice([0, 0.003, 0.01, 0.03, 0.1]))
        if what != "daemon":
            await self.kill_bot()
        if what != "bot":
            await self.kill_daemon()

    # What people do

    async def step(self, act, done, attack, what):
        """Somebody does something, and again until it is done; in the first try, something is killed meanwhile. Who has not
        been answered waits, unless something was killed: on a slow machine, they would do it twice."""
        until = time.monotonic() + PATIENCE
        token = await act()
        if attack:
            await self.attack(attack)
        while not (found := await self.fake.wait(done, 4.0)):
            assert time.monotonic() < until, f"{what}: {self.fake.notes[-3:]} {self.last(A)} {self.last(B)}"
            if attack or self.fake.has_answered(token):
                token = await act()
        return found

    def last(self, channel):
        shown = [one for one in self.fake.messages.values() if one["channel_id"] == channel and not one["flags"]]
        return shown[-1]["content"] if shown else ""

    def offered(self, channel, seen):
        """The latest message of a channel that offers teams, unless it was seen before."""
        found = [id for id, one in self.fake.messages.items() if one["channel_id"] == channel and any(b.startswith("ek:start") for b in buttons(one))]
        return next((id for id in reversed(found) if id not in seen), None)

    def button(self, message, what):
        return next(b for b in buttons(self.fake.messages[message]) if b.startswith(what))

    async def teams(self, channel, people, attack):
        """Teams of these people. Returns the message."""
        seen = set(self.fake.messages)
        named = " ".join(f"<@{one}>" for one in people)
        act = lambda: self.fake.command(people[0], channel, "teams", players=named)
        return await self.step(act, lambda: self.offered(channel, seen), attack, "teams")

    def text(self, message):
        return self.fake.messages[message]["content"]

    def line_up(self, message):
        """The people of each team, as the message says."""
        names = {name: id for id, name in PEOPLE.items()}
        lines = re.findall(r"\*\*Team \d\*\*(?: \(\d+ %\))?: (.*)", self.text(message))
        return [[names[name] for name in line.split(", ")] for line in lines]

    async def press(self, who, message, what, done, attack):
        """Presses a button until the message is as it must become."""
        async def act():
            ids = [b for b in buttons(self.fake.messages[message]) if b.startswith(f"ek:{what}")]
            if ids:
                return await self.fake.press(who, message, ids[0])
        return await self.step(act, lambda: done(self.text(message)), attack, what)

    async def begin(self, channel, people, attacks):
        """Makes teams, looks at others, and begins. Returns the message and the teams."""
        message = await self.teams(channel, people, attacks[0])
        assert "Why: " in self.text(message), self.text(message)
        await self.press(people[1], message, "again", lambda text: "choice" in text, attacks[1])
        await self.press(people[2], message, "start", lambda text: text.startswith("**Playing**"), attacks[2])
        teams = self.line_up(message)
        assert sorted(sum(teams, [])) == sorted(people), (teams, people)
        seats = {one: room for team, room in zip(teams, ROOMS[channel]) for one in team}
        at_home = lambda: all(self.fake.voice[one] == room for one, room in seats.items())
        assert await self.fake.wait(at_home, PATIENCE), f"astray: {self.fake.voice} {seats}"
        for room in ROOMS[channel]:
            there = {one for one, where in self.fake.voice.items() if where == room}
            assert there == {one for one, own in seats.items() if own == room}, "somebody else is in the room"
        return message, teams

    async def finish(self, channel, message, teams, winner, attacks):
        """One of each team says who has won; others click, too."""
        first, second = teams[0][0], teams[1][-1]
        says = lambda text: f"{PEOPLE[first]} says" in text
        await self.press(first, message, f"won:{winner}", says, attacks[0])
        await self.press(second, message, f"won:{winner}", lambda text: text.startswith("**Match"), attacks[1])
        self.wanted.append(([sorted(PEOPLE[one] for one in team) for team in teams], winner))
        back = lambda: all(self.fake.voice[one] == LOBBY for team in teams for one in team)
        if attacks[1] is None:
            assert await self.fake.wait(back, PATIENCE), f"not back: {self.fake.voice}"
        for one in sum(teams, []):
            await self.fake.go(one, LOBBY)

    async def stranger(self, message):
        """Somebody who does not play clicks, and is told off."""
        before = len(self.fake.notes)
        outsider = next(one for one in USERS if one not in sum(self.line_up(message), []))
        await self.fake.press(outsider, message, self.button(message, "ek:won"))
        assert await self.fake.wait(lambda: len(self.fake.notes) > before, PATIENCE)
        assert self.fake.notes[-1][0] == outsider and "does not play" in self.fake.notes[-1][1], self.fake.notes[-1]

    async def ask(self, who, channel, command, wanted, **options):
        """Types a command until the answer is as it must become. Returns the message."""
        seen = set(self.fake.messages)
        said = lambda: next((id for id, one in self.fake.messages.items() if id not in seen and re.search(wanted, one["content"])), None)
        return await self.step(lambda: self.fake.command(who, channel, command, **options), said, None, command)

    async def talk(self):
        """What people ask after a match, and a user who claims to be a player of the game."""
        await self.ask(USERS[0], A, "why", "^- ")
        await self.ask(USERS[0], A, "rank", r"Player A: weight \d+\.\d")
        await self.ask(USERS[0], A, "result", "No match is played")
        await self.ask(USERS[0], A, "leave", "not in this queue")
        await self.ask(USERS[0], B, "join", "no queue")
        await self.ask(USERS[0], A, "teams", "At least two", players=f"<@{USERS[0]}>")
        await self.ask(USERS[0], A, "link", "Nobody called", name="Nobody")
        message = await self.ask(USERS[0], A, "link", "says they are", name="Player L")
        await self.fake.press(USERS[1], message, self.button(message, "ek:confirm"))
        refused = lambda: next((one for one in self.fake.messages.values() if "Only organisers" in one["content"]), None)
        assert await self.fake.wait(refused, PATIENCE), "anybody may confirm"
        self.fake.organisers.add(USERS[5])
        await self.press(USERS[5], message, "refuse", lambda text: "was refused" in text, None)
        self.fake.organisers.discard(USERS[5])

    async def queue(self):
        """Four people join the queue, two of them as a party; the teams are announced once, though the bot is killed."""
        seen = set(self.fake.messages)
        for who, friends in ((USERS[0], [USERS[1]]), (USERS[2], []), (USERS[3], [])):
            named = " ".join(f"<@{one}>" for one in friends)
            await self.ask(who, A, "join", "You wait|You are in match", friends=named)
        await self.kill_bot()
        message = await self.fake.wait(lambda: self.offered(A, seen), PATIENCE)
        assert message, "the match of the queue is not announced"
        looks = self.fake.looks
        await self.kill_bot()
        assert await self.fake.wait(lambda: self.fake.looks > looks, PATIENCE), "the new bot does not look"
        await self.ask(USERS[3], A, "status", "announced in this channel")
        teams = self.line_up(message)
        party = [USERS[0] in team for team in teams] == [USERS[1] in team for team in teams]
        assert party and sorted(sum(teams, [])) == sorted(USERS[:4]), teams
        offers = [one for id, one in self.fake.messages.items() if id not in seen and not one["flags"]]
        assert len(offers) == 1, offers
        await self.press(USERS[2], message, "void", lambda text: text.startswith("**Does not count"), None)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1{path}", timeout=10) as answer:
            return json.load(answer)

    def recorded(self):
        """The matches of the daemon: the names of each team, and who has won."""
        found = []
        for line in self.get("/matches?limit=200")["matches"]:
            game = self.get(f"/matches/{line['id']}")
            teams = [sorted(seat["player"]["name"] for seat in team["players"]) for team in game["teams"]]
            found.append((teams, game["winner"]))
        return found

    async def run(self):
        await self.fake.start()
        self.start_daemon()
        for one in USERS:
            self.fake.voice[one] = LOBBY
        await self.start_bot()
        names = sorted(one["name"] for one in self.fake.commands)
        assert names == ["join", "leave", "link", "rank", "result", "status", "teams", "unlink", "void", "why"], names
        # Two matches at the same time, twice; then one of all twelve.
        for order, winners in ((USERS, (0, 1)), (USERS[::2] + USERS[1::2], (1, 1))):
            one = await self.begin(A, order[:6], ["bot", "daemon", "both"])
            await self.stranger(one[0])
            two = await self.begin(B, order[6:], ["daemon", "bot", "bot"])
            await self.finish(A, *one, winners[0], ["both", "daemon"])
            await self.finish(B, *two, winners[1], ["daemon", "bot"])
        await self.talk()
        # Two bots at once.
        await self.start_bot()
        last = await self.begin(A, USERS, [None, "daemon", None])
        await self.finish(A, *last, 0, ["daemon", None])
        stopped = self.bots.pop()
        stopped.kill()
        stopped.wait()
        await self.queue()
        found = self.recorded()
        assert sorted(found) == sorted(self.wanted), f"{found} instead of {self.wanted}"
        assert self.fake.faults == [], self.fake.faults
        print(json.dumps({"matches": len(found), "kills": self.kills, "moves": len(self.fake.moves)}))

    def stop(self):
        for process in [self.daemon, *self.bots]:
            if process and process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()


async def main():
    evening = Evening()
    try:
        await evening.run()
    finally:
        evening.stop()


if __name__ == "__main__":
    asyncio.run(main())
