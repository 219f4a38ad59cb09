"""A queue client: queues players, sends them to instances, and waits until each has played or left.

python3 client.py HOST:PORT NAME QUEUE --players 20 [--cancels 0.1] [--spread 3]

Tickets have one or two players. The last line that it prints is a JSON object with the state of every ticket.
"""
import argparse, asyncio, json, random, re, sys, time

ARGS = argparse.ArgumentParser()
ARGS.add_argument("daemon")
ARGS.add_argument("name")
ARGS.add_argument("queue")
ARGS.add_argument("--players", type=int, default=20)
ARGS.add_argument("--cancels", type=float, default=0.1, help="the share of tickets that are cancelled")
ARGS.add_argument("--absent", type=float, default=0.0, help="the share of players who do not come to the game")
ARGS.add_argument("--leaves", type=float, default=0.0, help="the share of players who leave their game in play")
ARGS.add_argument("--spread", type=float, default=3.0, help="all tickets come within so many seconds")
ARGS.add_argument("--limit", type=float, default=100.0, help="give up after so many seconds")

FINAL = ("MATCHED", "CANCELLED", "EXPIRED")


class Ticket:
    def __init__(self, name, players):
        self.name, self.players = name, players
        self.queued = False
        self.state = None
        self.told = []  # the pushes about it
        self.tasks = {}  # player: the connection to the instance
        self.played = {player: None for player in players}


class Client:
    def __init__(self, args):
        self.args, self.tickets, self.replies = args, {}, asyncio.Queue()
        self.writer, self.by_player, self.absent = None, {}, set()
        self.asking = asyncio.Lock()

    async def run(self):
        connection = asyncio.create_task(self.stay_connected())
        left, submits = self.args.players, []
        while left:
            size = min(left, random.choice([1, 1, 1, 2]))
            left -= size
            number = len(self.tickets)
            players = [f"{self.args.name}-{number}-{n}" for n in range(size)]
            ticket = self.tickets[f"t{number}"] = Ticket(f"t{number}", players)
            self.by_player.update({player: ticket for player in players})
            self.absent.update(player for player in players if random.random() < self.args.absent)
            submits.append(asyncio.create_task(self.queue(ticket)))
        done = asyncio.gather(*submits)
        try:
            await asyncio.wait_for(done, self.args.limit)
        finally:
            connection.cancel()
        states = {t.name: [t.state, t.told, t.played] for t in self.tickets.values()}
        print(json.dumps({"client": self.args.name, "tickets": states}), flush=True)

    async def stay_connected(self):
        host, port = self.args.daemon.rsplit(":", 1)
        while True:
            try:
                reader, self.writer = await asyncio.open_connection(host, int(port))
                self.writer.write(f"HELLO {self.args.name}\nLISTEN\n".encode())
                while line := await reader.readline():
                    text = line.decode().rstrip("\n")
                    if text.startswith("* "):
                        self.push(text[2:].split(" "))
                    elif not text.startswith("HELLO"):
                        self.replies.put_nowait(text)
            except OSError:
                pass
            self.writer = None
            self.replies.put_nowait(None)
            await asyncio.sleep(0.1)

    async def ask(self, lines, count=1):
        """Sends lines with this many lines of reply, again and again until they are answered."""
        async with self.asking:
            while True:
                while not self.replies.empty():
                    self.replies.get_nowait()
                if self.writer is None:
                    await asyncio.sleep(0.05)
                    continue
                self.writer.write(lines.encode())
                reply = [await self.replies.get()]
                while reply[-1] is not None and reply[-1].startswith("GO ") and not reply[-1].endswith(" 0"):
                    reply.append(await self.replies.get())
                if reply[-1] is not None:
                    return reply[0]

    async def queue(self, ticket):
        """A ticket from ENQUEUE to the end of its game."""
        await asyncio.sleep(random.uniform(0, self.args.spread))
        seats = "".join(f"SEAT {player}\n" for player in ticket.players)
        await self.ask(f"ENQUEUE {self.args.queue} {ticket.name}\n{seats}SUBMIT\n")
        if random.random() < self.args.cancels:
            await asyncio.sleep(random.uniform(0, 0.5))
            await self.ask(f"CANCEL {ticket.name}\n")
        while True:
            await asyncio.sleep(0.1)
            if ticket.told and ticket.told[-1] in ("CANCELLED", "EXPIRED"):
                break
            if all(ticket.played.values()):
                break
            if ticket.tasks and all(task.done() for task in ticket.tasks.values()):
                # A game server may die right after START, before its players know that play has begun.
                state = await self.ask(f"TICKET {ticket.name}\n")
                if state.startswith("MATCHED "):
                    ticket.played = {player: how or "lost" for player, how in ticket.played.items()}
        while True:
            ticket.state = (await self.ask(f"TICKET {ticket.name}\n")).split(" ")[0]
            if ticket.state in FINAL:
                return
            await asyncio.sleep(0.1)

    def push(self, words):
        if words[0] == "GO":
            _, _, address, secret, player = words
            ticket = self.by_player[player]
            ticket.told.append("GO")
            if old := ticket.tasks.get(player):
                old.cancel()
            ticket.tasks[player] = asyncio.create_task(self.play(ticket, player, address, secret))
        elif words[0] in ("MATCHED", "REQUEUED", "CANCELLED", "EXPIRED"):
            ticket = self.tickets[words[2] if words[0] == "MATCHED" else words[1]]
            ticket.told.append(words[0])

    async def play(self, ticket, player, address, secret):
        """The player's connection to the instance. Without START, another GO or REQUEUED will come."""
        if player in self.absent:
            return
        host, port = address.rsplit(":", 1)
        started, admitted = False, False
        # In play, the player may be faster than the news of them on the way to the instance, which says "no" then.
        for _ in range(20):
            try:
                reader, writer = await asyncio.open_connection(host, int(port))
                writer.write(f"{secret} {player}\n".encode())
                while line := (await reader.readline()).decode().strip():
                    if line == "no":
                        break
                    admitted = True
                    if line == "start":
                        started = True
                        if random.random() < self.args.leaves:
                            await asyncio.sleep(random.uniform(0, 0.2))
                            ticket.played[player] = "left"
                            break
                    if line == "over":
                        ticket.played[player] = "over"
                writer.close()
            except OSError:
                break
            if admitted or line != "no":
                break
            await asyncio.sleep(0.1)
        if started and not ticket.played[player]:
            ticket.played[player] = "lost"


asyncio.run(Client(ARGS.parse_args()).run())
