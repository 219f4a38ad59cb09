"""What went wrong on pick-up nights, told as players would, on a fake Discord with the real daemon.

python3 situations.py PROGRAM BOT_FOLDER    in an empty folder

Prints a JSON object with the situations that were played; an assertion fails if one goes wrong again.
"""
import asyncio, json, re, time

import evening
from evening import A, B, LOBBY, PATIENCE, PEOPLE, ROOMS, USERS, Evening
from fake import APPLICATION, buttons

C = "300000000000000003"  # a channel whose voice channels do not exist
ORGANISER = USERS[11]


def mention(*users):
    return " ".join(f"<@{one}>" for one in users)


class Situations(Evening):
    def __init__(self):
        evening.TEXTS.setdefault(C, "pickup-c")
        super().__init__()
        with open("bot.toml", "a", encoding="utf-8") as file:
            file.write(f"[[channel]]\nid = '{C}'\nvoice = ['Nope', 'Nada']\n")

    async def note(self, act, wanted):
        """Does something, and waits for a note to somebody."""
        before = len(self.fake.notes)
        await act
        said = lambda: any(re.search(wanted, text) for _, text in self.fake.notes[before:])
        assert await self.fake.wait(said, PATIENCE), f"{wanted}: {self.fake.notes[before:]}"

    async def hidden(self, who, message, custom_id, wanted):
        """Presses a button, and waits for an answer to this user alone."""
        seen = set(self.fake.messages)
        await self.fake.press(who, message, custom_id)
        said = lambda: any(re.search(wanted, one["content"]) for id, one in self.fake.messages.items() if id not in seen)
        assert await self.fake.wait(said, PATIENCE), wanted

    async def play(self, channel, people):
        """A match that is played. Returns the message."""
        message = await self.teams(channel, people, None)
        await self.press(people[0], message, "start", lambda text: text.startswith("**Playing**"), None)
        return message

    async def record(self, message, winner=0):
        await self.press(ORGANISER, message, f"won:{winner}", lambda text: text.startswith("**Match"), None)
        return int(re.search(r"Match (\d+)", self.text(message))[1])

    def logged(self, words):
        """How often these words are at the end of a line of the bot's log, or in it before a colon."""
        with open("bot.log", encoding="utf-8") as log:
            return len(re.findall(rf"{words}(?:$|:)", log.read(), re.MULTILINE))

    async def logs(self, words):
        """Waits until the bot has logged this: it looks at its servers once Discord has told it all of them."""
        until = time.monotonic() + PATIENCE
        while not self.logged(words):
            assert time.monotonic() < until, words
            await asyncio.sleep(0.1)

    def places(self, people):
        return [self.fake.voice[one] for one in people]

    def winners(self):
        """Who has won the matches that count."""
        games = [self.get(f"/matches/{line['id']}") for line in self.get("/matches?limit=200")["matches"]]
        return {game["id"]: game["winner"] for game in games if game["unrated"] != "void"}

    async def counts(self, done):
        """Waits until the daemon has learned which matches count."""
        until = time.monotonic() + PATIENCE
        while not done(now := self.winners()):
            assert time.monotonic() < until, now
            await asyncio.sleep(0.1)

    async def a_wrong_result_is_corrected_by_an_organiser(self):
        message = await self.play(A, USERS[:4])
        wrong = await self.record(message, 0)
        await self.hidden(USERS[0], message, self.button(message, "ek:correct"), "Only organisers")
        await self.press(ORGANISER, message, "correct", lambda text: "What is the right result?" in text, None)
        assert not any(one.startswith("ek:fixwon:0") for one in buttons(self.fake.messages[message])), "it has this result"
        await self.hidden(USERS[0], message, self.button(message, "ek:fixwon"), "Only organisers")
        await self.kill_bot()
        await self.press(ORGANISER, message, "fixwon:1", lambda text: "Team 2 has won" in text, None)
        await self.counts(lambda now: now[self.number(message)] == 1 and wrong not in now)
        # Void by a slip, and then right: by the number, and from the list.
        number = self.number(message)
        asked = await self.ask(ORGANISER, A, "void", "Does this match not count", match=number)
        await self.press(ORGANISER, asked, "keep", lambda text: "not count" not in text, None)
        asked = await self.ask(ORGANISER, A, "void", "Does this match not count", match=number)
        await self.press(ORGANISER, asked, "fixvoid", lambda text: text.startswith("**Does not count"), None)
        found = await self.ask(ORGANISER, A, "result", "Does not count")
        await self.press(ORGANISER, found, "correct", lambda text: "What is the right result?" in text, None)
        await self.press(ORGANISER, found, "fixdraw", lambda text: "A draw" in text, None)
        await self.counts(lambda now: now == {self.number(found): None})
        await self.ask(ORGANISER, A, "void", "has the number 999", match=999)

    def number(self, message):
        return int(re.search(r"Match (\d+)", self.text(message))[1])

    async def void_asks_which_match_is_meant(self):
        first = self.number(await self.recorded_match(USERS[:4]))
        playing = await self.play(A, USERS[4:8])
        choice = await self.ask(ORGANISER, A, "void", "Which match does not count")
        assert f"match {first}" in self.text(choice) and "is played now" in self.text(choice), self.text(choice)
        lines = self.text(choice).split("\n")
        place = next(re.match(r"\*\*(\d)\*\*", line)[1] for line in lines if f"match {first}:" in line)
        await self.press(ORGANISER, choice, f"ask:{place}", lambda text: "Does this match not count?" in text, None)
        await self.press(ORGANISER, choice, "fixvoid", lambda text: text.startswith("**Does not count"), None)
        await self.counts(lambda now: first not in now)
        assert self.text(playing).startswith("**Playing"), self.text(playing)
        # A player whose match is recorded does not end an old pick by typing /void.
        old = await self.teams(A, USERS[:3], None)
        asked = await self.ask(USERS[0], A, "void", "Does this match not count")
        await self.press(USERS[0], asked, "keep", lambda text: "not count?" not in text, None)
        await self.press(USERS[0], old, "void", lambda text: text.startswith("**Does not count"), None)
        await self.record(playing)

    async def recorded_match(self, people):
        message = await self.play(A, people)
        await self.record(message)
        for one in people:
            await self.fake.go(one, LOBBY)
        return message

    async def why_is_said_in_words_of_players(self):
        message = await self.teams(A, [*USERS[:4], USERS[9]], None)
        why = await self.ask(USERS[0], A, "why", "^- ")
        for text in (self.text(message), self.text(why)):
            for word in ("team 0", "ratio", "probability", "engine", "combination", "quality", "chance of", "discord-"):
                assert word not in text, text
        assert "The strongest are" in self.text(message) and "New here" in self.text(message), self.text(message)
        assert re.search(r"With Player \w on Team [12] instead, Team 1 would win \d+ of 100", self.text(why)), self.text(why)
        await self.press(USERS[0], message, "void", lambda text: text.startswith("**Does not count"), None)

    async def missing_rooms_are_said(self):
        message = await self.teams(C, USERS[:4], None)
        await self.note(self.fake.press(USERS[0], message, self.button(message, "ek:start")), "no such voice channel.*voice")
        assert set(self.places(USERS[:4])) == {LOBBY}
        await self.logs("there is no voice channel Nada")
        await self.record(message)

    async def two_matches_do_not_share_rooms(self):
        first = await self.play(A, USERS[:4])
        moved = lambda: set(self.places(USERS[:4])) == set(ROOMS[A])
        assert await self.fake.wait(moved, PATIENCE), self.places(USERS[:4])
        second = await self.teams(A, USERS[4:8], None)
        await self.note(self.fake.press(USERS[4], second, self.button(second, "ek:start")), "Another match is played in")
        assert set(self.places(USERS[4:8])) == {LOBBY}, "both matches are in the same rooms"
        # Whoever goes away while they play stays away, whatever others say and though the bot is started again.
        await self.fake.go(USERS[0], LOBBY)
        await self.press(USERS[1], first, "won:0", lambda text: "Player B says" in text, None)
        started = self.logged("ready")
        await self.kill_bot()
        while self.logged("ready") == started:  # until it has looked for people to move
            await self.ask(USERS[0], A, "status", "Playing here")
        assert self.fake.voice[USERS[0]] == LOBBY, "the bot has moved somebody back"
        await self.record(first)
        await self.record(second)
        assert await self.fake.wait(lambda: set(self.places(USERS[:8])) == {LOBBY}, PATIENCE)

    async def a_match_of_the_queue_has_no_other_teams_and_ends(self):
        seen = set(self.fake.messages)
        await self.ask(USERS[0], A, "join", "who `bob` is", friends="bob")
        await self.ask(USERS[0], A, "join", "3 together", friends=mention(*USERS[1:3]))
        await self.ask(USERS[0], A, "join", "does not ask for wish", say="wish=-1")
        for one in USERS[:4]:
            await self.ask(one, A, "join", "You wait|You are in match|announced")
        message = await self.fake.wait(lambda: self.offered(A, seen), PATIENCE)
        assert not any(one.startswith("ek:again") for one in buttons(self.fake.messages[message])), "there are no other teams"
        await self.press(USERS[0], message, "start", lambda text: text.startswith("**Playing**"), None)
        await self.ask(USERS[0], A, "status", "You are playing")
        await self.record(message)
        await self.ask(USERS[0], A, "status", "is over, and recorded")

    async def a_link_is_asked_for_and_removed(self):
        asked = await self.ask(USERS[8], B, "link", "says they are \\*\\*Player A\\*\\*(?s:.*)user of Discord, too", name="Player A")
        self.fake.organisers.discard(USERS[8])
        await self.press(ORGANISER, asked, "confirm", lambda text: "counts as **Player A** now. It takes a moment" in text, None)
        await self.ask(USERS[8], B, "link", "/unlink", name="Player B")
        await self.ask(USERS[8], B, "teams", "count as one player", players=mention(USERS[0], USERS[8]))
        await self.ask(USERS[8], B, "unlink", "Only organisers")
        await self.ask(ORGANISER, B, "unlink", "has no link any more", user=USERS[8])
        await self.ask(USERS[8], B, "unlink", "has no link\\.")
        await self.ask(USERS[9], B, "link", "cannot be a name", name="x" * 300)

    async def words_that_mention_nobody_are_not_ignored(self):
        await self.ask(USERS[0], B, "teams", "who `nonsense ann bob` is", players="nonsense ann bob")
        await self.ask(USERS[0], B, "teams", "is a bot", players=mention(APPLICATION, USERS[0]))

    async def a_wrong_token_is_in_the_log_and_not_in_the_channel(self):
        with open("bot.toml", encoding="utf-8") as file:
            right = file.read()
        with open("bot.toml", "w", encoding="utf-8") as file:
            file.write(right.replace(f"token = '{evening.TOKEN}'", "token = 'wrong'"))
        await self.kill_bot()
        await self.ask(USERS[0], B, "result", "the bot's log says why")
        await self.logs("the daemon refuses this bot")

    def situations(self):
        return [self.a_wrong_result_is_corrected_by_an_organiser, self.void_asks_which_match_is_meant, self.why_is_said_in_words_of_players,
                self.missing_rooms_are_said, self.two_matches_do_not_share_rooms, self.a_match_of_the_queue_has_no_other_teams_and_ends,
                self.a_link_is_asked_for_and_removed, self.words_that_mention_nobody_are_not_ignored,
                self.a_wrong_token_is_in_the_log_and_not_in_the_channel]

    async def run(self):
        await self.fake.start()
        self.start_daemon()
        self.fake.voice = dict.fromkeys(USERS, LOBBY)
        self.fake.organisers.add(ORGANISER)
        await self.start_bot()
        for situation in self.situations():
            await situation()
        assert self.fake.faults == [], self.fake.faults
        print(json.dumps({"situations": [one.__name__ for one in self.situations()]}))


async def main():
    situations = Situations()
    try:
        await situations.run()
    finally:
        situations.stop()


if __name__ == "__main__":
    asyncio.run(main())
