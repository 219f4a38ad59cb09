"""What users do: slash commands, which Discord sends as signed requests."""
import logging, time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from daemon import Refused, quoted
from text import code, message, plain, player_of

OLDEST = 300  # seconds that a request may be old, so that nobody can send it again later
PRIVATE = 64  # the flag of an answer that only the user sees


def is_signed(key, signature, timestamp, body, now=None):
    """Whether Discord has signed the request, and not long ago."""
    now = time.time() if now is None else now
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(bytes.fromhex(signature), timestamp.encode() + body)
        return abs(now - int(timestamp)) <= OLDEST
    except (InvalidSignature, ValueError):
        return False


class Commands:
    def __init__(self, settings, asker, memory):
        self.settings, self.asker, self.memory = settings, asker, memory
        self.verbs = {"join": self.join, "leave": self.leave, "status": self.status}
        self.verbs |= {"accept": self.accept, "decline": self.decline}

    def answer(self, interaction):
        """The response to an interaction; None if it is none that this bot knows."""
        if interaction.get("type") == 1:
            return {"type": 1}
        if interaction.get("type") != 2 or interaction.get("application_id") != self.settings.application:
            return None
        data = interaction.get("data") or {}
        verb = self.verbs.get(data.get("name"))
        user = str(((interaction.get("member") or {}).get("user") or {}).get("id", ""))
        channel = self.settings.channel(interaction.get("guild_id"), interaction.get("channel_id"))
        if not verb:
            said = "This bot does not know the command any more."
        elif channel is None or not user.isascii() or not user.isdecimal():
            said = "This channel has no queue."
        else:
            said = self.carry_out(verb, interaction, channel, user, data)
        private = message(said[:2000])
        return {"type": 4, "data": {**private, "flags": private["flags"] | PRIVATE}}

    def carry_out(self, verb, interaction, channel, user, data):
        try:
            return verb(channel, user, data.get("options") or [], str(interaction.get("id", "")))
        except Refused as error:
            return f"That is not possible: {plain(error, 300)}."
        except ValueError as error:
            return f"That is not possible: {plain(error, 300)}."
        except OSError as error:
            logging.warning("the daemon does not answer: %s", error)
            return "The matchmaker does not answer. Try again in a moment; /status shows whether you wait."

    def join(self, channel, user, options, number):
        old = self.state(channel, user)
        if old and old[0][0] not in ("CANCELLED", "EXPIRED") and not self.is_over(old):
            return "You are in this queue already. " + self.describe(old)
        stated = list(attributes(channel, options))
        if not number.isdecimal() or len(number) > 20:
            raise ValueError("Discord has sent no id")
        ticket = f"{user}-{number}"
        # Remembered first: if the reply is lost, /status and /leave still find the ticket.
        self.memory.remember(user, channel.queue, ticket, channel.channel)
        seat = " ".join(["SEAT", quoted(player_of(user)), *stated])
        try:
            reply = self.asker.ask(f"ENQUEUE {channel.queue} {ticket}", seat, "SUBMIT")
        except Refused:
            self.memory.forget(ticket)
            raise
        return f"You wait in {plain(channel.queue)}. " + self.describe(reply)

    def leave(self, channel, user, options, number):
        ticket = self.memory.ticket(user, channel.queue)
        if not ticket:
            return "You are not in this queue."
        return self.describe(self.asker.ask(f"CANCEL {ticket}"))

    def status(self, channel, user, options, number):
        found = self.state(channel, user)
        if found:
            return self.describe(found)
        queues = self.asker.ask("QUEUES")
        for _, queue, tickets, players, wait in (line for line in queues if line[0] == "QUEUE"):
            if queue == channel.queue:
                usual = "" if wait == "-" else f" The last matches took {wait} s to form."
                return f"You are not in this queue. {players} players wait.{usual}"
        return "You are not in this queue."

    def accept(self, channel, user, options, number):
        return self.decide("ACCEPT", channel, user)

    def decline(self, channel, user, options, number):
        return self.decide("DECLINE", channel, user)

    def decide(self, verb, channel, user):
        found = self.state(channel, user)
        if not found or found[0][0] != "PROPOSED":
            return "No match is proposed to you."
        self.asker.ask(f"{verb} {found[0][1]} {quoted(player_of(user))}")
        return "You have accepted the match." if verb == "ACCEPT" else "You have declined the match."

    def state(self, channel, user):
        """The state of the user's latest ticket; None without one that the daemon knows."""
        ticket = self.memory.ticket(user, channel.queue)
        if not ticket:
            return None
        try:
            return self.asker.ask(f"TICKET {ticket}")
        except Refused as error:
            if error.code != "bad-argument":
                raise
            self.memory.forget(ticket)
            return None

    @staticmethod
    def is_over(state):
        """Whether the ticket is in a match that has begun, or that needs no instance."""
        return state[0][0] == "MATCHED"

    @staticmethod
    def describe(reply):
        """The state of a ticket, in words. The pass is only in this answer, which nobody else sees."""
        words = reply[0] if reply else [""]
        if words[0] == "QUEUED":
            wait = "" if words[3] == "-" else f" About {words[3]} s more are expected."
            return f"You have waited {words[2]} s.{wait}"
        if words[0] == "PROPOSED":
            return f"A match is proposed to you: /accept or /decline it within {words[3]} s."
        if words[0] == "GO":
            return f"Your match {words[1]} is at {code(words[2])}. Your pass: {code(words[3])}"
        if words[0] == "MATCHED":
            return f"You are in match {words[1]}."
        if words[0] == "CANCELLED":
            return "You have left the queue."
        if words[0] == "EXPIRED":
            return "Your wait has ended: nobody was found in time."
        return "The matchmaker has given an answer that this bot does not know."


def attributes(channel, options):
    """What the user has stated, as attributes of SEAT."""
    given = {}
    for option in options[:25]:
        known = channel.options.get(option.get("name"))
        value = option.get("value")
        if known is None:
            raise ValueError(f"this channel's queue has no {option.get('name')}")
        if isinstance(value, bool):
            value = "true" if value else "false"
        if not isinstance(value, (str, int, float)) or len(str(value)) > 64:
            raise ValueError(f"{known['name']} is too long")
        given[known["name"]] = value
    for name, option in channel.options.items():
        if option.get("required") and name not in given:
            raise ValueError(f"state {name}")
    return (f"{name}={quoted(value)}" for name, value in given.items())
