"""A player on a Teeworlds server, who runs for the other team's flag and shoots at enemies on the way.

The skill, 1 to 5, is how fast and how well they aim. They know the arena (arena.py), which is flat.
"""

import math
import time

from protocol import Connection, Reader, number, text

# Messages of the system.
MAP_CHANGE, CON_READY, SNAP, SNAP_SINGLE = 2, 5, 6, 8
READY, ENTER, INPUT = 18, 19, 20
# Messages of the game.
TEAM, READY_TO_ENTER, CLIENT_INFO, CLIENT_DROP = 4, 8, 18, 20
SAY, SET_TEAM, START_INFO, VOTE, CALL_VOTE = 24, 25, 27, 31, 32
# The objects of a snapshot: how many numbers each has.
SIZES = [0, 10, 6, 5, 3, 3, 3, 2, 4, 15, 22, 3, 4, 58, 5, 32, 2, 2, 2, 2, 3, 3, 7, 1, 3]
SCORES, FLAG_STATE, CHARACTER = 7, 8, 10
SKINS = ("standard", "", "", "standard", "standard", "standard")
HAMMER, GUN = 0, 1
# Instead of the number of who carries a flag.
AT_STAND = -2
# By skill: how long an enemy is in sight before the first shot, the pause between two shots, in seconds, and how far
# from the enemy the shot goes, in radians.
REACTION = {1: 1.2, 2: 0.8, 3: 0.5, 4: 0.25, 5: 0.1}
PAUSE = {1: 0.9, 2: 0.65, 3: 0.45, 4: 0.3, 5: 0.2}
ERROR = {1: 0.30, 2: 0.20, 3: 0.12, 4: 0.06, 5: 0.02}
SIGHT = 700
# How often the server is told what the player does.
PERIOD = 0.05


class Player:
    """Call `update` often; `connection` is for select."""

    def __init__(self, name, skill, port, stream, stands, team=None):
        self.name, self.skill, self.stream, self.stands = name, skill, stream, stands
        self.connection = Connection(port)
        # The team that the player chooses first.
        self.wish = team
        self.number, self.teams = None, {}
        self.tick, self.parts = 0, {}
        # Where everybody in sight is; who carries which flag, or None without flags; the teams' scores, or None without teams.
        self.characters, self.carriers, self.scores = {}, None, [0, 0]
        self.fired = 0
        self.seen = {}
        self.next_shot = self.next_input = 0.0
        self.jump_until = 0.0
        self.target = stands[stream.randrange(2)][0]
        self.ended = False

    def stop(self):
        self.connection.close()

    def say(self, line):
        self.connection.send(0, SAY, number(1) + number(-1) + text(line))

    def call_vote(self, option):
        self.connection.send(0, CALL_VOTE, text("option") + text(option) + text("") + number(0))

    def agree(self):
        self.connection.send(0, VOTE, number(1))

    def team(self):
        return self.teams.get(self.number)

    def update(self):
        for system, message, reader in self.connection.receive():
            try:
                self.take(system, message, reader)
            except (IndexError, ValueError):
                pass  # a message that was cut
        self.connection.update()
        self.ended = self.connection.state == "closed"
        now = time.monotonic()
        if self.number is None or self.ended:
            return
        if self.wish is not None and self.team() is not None:
            if self.team() != self.wish:
                self.connection.send(0, SET_TEAM, number(self.wish))
            self.wish = None
        if now > self.next_input and self.tick:
            self.next_input = now + PERIOD
            self.act(now)

    def take(self, system, message, reader):
        send = self.connection.send
        if system and message == MAP_CHANGE:
            self.number, self.tick, self.characters = None, 0, {}
            send(1, READY)
        elif system and message == CON_READY:
            skin = b"".join(map(text, SKINS)) + number(0) * 6 + number(0) * 6
            send(0, START_INFO, text(self.name) + text("") + number(-1) + skin)
        elif system and message in (SNAP, SNAP_SINGLE):
            self.snapshot(message, reader)
        elif not system and message == READY_TO_ENTER:
            send(1, ENTER)
        elif not system and message == CLIENT_INFO:
            who, local, team = reader.number(), reader.number(), reader.number()
            self.teams[who] = team
            if local:
                self.number = who
        elif not system and message == TEAM:
            who, team = reader.number(), reader.number()
            self.teams[who] = team
        elif not system and message == CLIENT_DROP:
            self.teams.pop(reader.number(), None)

    def snapshot(self, message, reader):
        """Takes a snapshot, or a part of one. None is ever acknowledged, so that each one is complete."""
        tick, back = reader.number(), reader.number()
        count, part = (reader.number(), reader.number()) if message == SNAP else (1, 0)
        reader.number()
        size = reader.number()
        self.parts = {k: v for k, v in self.parts.items() if k[0] == tick}
        self.parts[tick, part] = reader.data[reader.at:reader.at + size]
        if back != tick + 1 or len(self.parts) < count:
            return
        data = Reader(b"".join(self.parts[tick, part] for part in range(count)))
        deleted, updated, _ = data.number(), data.number(), data.number()
        for _ in range(deleted):
            data.number()
        characters, scores, self.carriers = {}, None, None
        for _ in range(updated):
            kind, which = data.number(), data.number()
            fields = [data.number() for _ in range(SIZES[kind] if kind < len(SIZES) else data.number())]
            if kind == CHARACTER:
                characters[which] = fields
            elif kind == SCORES:
                scores = fields
            elif kind == FLAG_STATE:
                self.carriers = fields[:2]
        self.tick, self.characters, self.scores = tick, characters, scores

    def act(self, now):
        own = self.characters.get(self.number)
        if own is None:
            self.input(0, (1, 0), 0, GUN)
            return
        team, (x, y) = self.team(), own[1:3]
        enemy = self.enemy(x, y, now)
        goal = self.goal(team, x)
        direction = (goal > x + 8) - (goal < x - 8)
        if self.stream.random() < 0.03:
            self.jump_until = now + 0.15
        aim = (direction or 1, 0)
        if enemy:
            dx, dy = enemy[1] - x, enemy[2] - y
            angle = math.atan2(dy, dx) + self.stream.gauss(0, ERROR[self.skill])
            aim = (int(math.cos(angle) * 300), int(math.sin(angle) * 300))
            if now > self.next_shot:
                self.next_shot = now + PAUSE[self.skill]
                self.fired += 1 + (self.fired & 1)  # odd: the button is down
            elif self.fired & 1:
                self.fired += 1
        weapon = GUN if not enemy or math.hypot(enemy[1] - x, enemy[2] - y) > 60 else HAMMER
        self.input(direction, aim, int(now < self.jump_until), weapon)

    def goal(self, team, x):
        """Where the player runs to: the other team's flag, or home with it; without flags, to and fro."""
        if team not in (0, 1):
            return x
        if self.carriers is None:
            if abs(self.target - x) < 40:
                self.target = self.stream.randrange(self.stands[0][0], self.stands[1][0])
            return self.target
        if self.carriers[1 - team] != self.number:
            return self.stands[1 - team][0]
        home = self.stands[team][0]
        if self.carriers[team] != AT_STAND and abs(home - x) < 200:
            return home + self.stream.choice((-150, 150))  # the own flag is away: wait for it
        return home

    def enemy(self, x, y, now):
        """The nearest enemy in sight, once the player has seen them for long enough."""
        team = self.team()
        others = [(math.hypot(c[1] - x, c[2] - y), who) for who, c in self.characters.items()
                  if who != self.number and (self.scores is None or self.teams.get(who) != team)]
        near = [(distance, who) for distance, who in others if distance < SIGHT]
        self.seen = {who: self.seen.get(who, now) for _, who in near}
        ready = [(distance, who) for distance, who in near if now > self.seen[who] + REACTION[self.skill]]
        return self.characters[min(ready)[1]] if ready else None

    def input(self, direction, aim, jump, weapon):
        fields = (direction, *aim, jump, self.fired & 0x3f, 0, 0, weapon + 1, 0, 0)
        size = len(fields) * 4
        head = number(-1) + number(self.tick + 2) + number(size)
        self.connection.send(1, INPUT, head + b"".join(map(number, fields)) + number(0), vital=False)
