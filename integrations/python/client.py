"""Plays one game with Evenkeel: python3 client.py HOST:PORT [NAME [TOKEN]]"""
import re, socket, sys

class Evenkeel:
    def __init__(self, address, *hello):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=10)
        self.file = self.socket.makefile("r", encoding="utf-8", errors="surrogateescape", newline="\n")  # "rw" loses lines
        self.ask("HELLO", *hello)

    def ask(self, verb, *arguments, **options):
        """Returns the reply's lines as lists of words. Most commands have no reply; PONG ends each."""
        quote = lambda word: '"' + re.sub(r'(["\\])', r"\\\1", str(word)) + '"'
        named = (f"{key}={quote(value)}" for key, value in options.items())
        self.socket.sendall(" ".join([verb, *map(quote, arguments), *named, "\nPING\n"]).encode(errors="surrogateescape"))
        reply = []
        while (line := self.file.readline()) not in ("PONG\n", ""):
            words = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', line)
            reply.append([bare or re.sub(r"\\(.)", r"\1", quoted) for quoted, bare in words])
        if reply and reply[0][0] == "ERROR":
            raise ValueError(f"{verb}: {' '.join(reply[0][1:])}")
        if not line:
            raise ConnectionError(f"{verb}: the daemon closed the connection")
        return reply

game = Evenkeel(sys.argv[1], *(sys.argv[2:] or ["my-server"]))
game.ask("GAME", "baseoa.ctf")
for player in ["ann", "bob", "cid", 'Boring "John"']:
    game.ask("JOIN", player, name=player.title())
(_, count, ratio, chance, seed), *lines = game.ask("BALANCE")
team = {player: int(number) for word, number, player in lines if word == "TEAM"}
print(ratio, *(sorted(p for p in team if team[p] == side) for side in (0, 1)))
game.ask("START")
game.ask("KILL", "ann", next(p for p in team if team[p] != team["ann"]))
game.ask("SCORE", team["ann"], 1, "ann")
try:
    game.ask("SCORE", team["ann"], 1, "nobody")
except ValueError as error:
    print(error)
print(*game.ask("END")[0])
