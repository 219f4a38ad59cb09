"""Announces the matches that queues have formed. What is announced is found in the channel, so that a bot that is started
again, or a second one, announces nothing twice."""
import asyncio, logging

import discord

import buttons, people, shown, texts
from daemon import Refused, Unreachable

SEARCHED = 100  # messages of a channel in which an announcement is looked for


class Watch:
    def __init__(self, bot):
        self.bot, self.daemon, self.done = bot, bot.daemon, set()
        self.said = {}  # the last failure of each queue, which is logged once

    async def run(self):
        await self.bot.wait_until_ready()
        while True:
            for channel, place in self.bot.settings.channels.items():
                try:
                    if place.queue:
                        await self.look(channel, place)
                        self.said.pop(place.queue, None)
                except (Refused, Unreachable, discord.HTTPException) as error:
                    if self.said.get(place.queue) != str(error):
                        logging.warning("the queue %s: %s", place.queue, error)
                    self.said[place.queue] = str(error)
                except Exception:
                    logging.exception("the queue %s", place.queue)
            await asyncio.sleep(self.bot.settings.poll)

    async def look(self, channel, place):
        channel = self.bot.get_channel(int(channel))
        if channel is None:
            return
        found = await self.daemon.call("GET", "queues", place.queue, "tickets", limit=2.0)
        tickets = {one["match"]: one for one in found["tickets"] if one["match"] and one["state"] in ("matched", "go")}
        for match in found["matches"]:
            ticket = tickets.get(match["match"])
            if ticket and not place.hosted:
                await self.formed(channel, place, match)
            elif ticket and ticket["state"] == "go":
                await self.hosted(channel, place, match, ticket)

    async def formed(self, channel, place, match):
        """A match without a game server is a pick-up match with these teams."""
        own = f"queue-{match['match']}"
        if own in self.done:
            return
        seats = [(player, team) for team, players in enumerate(match["teams"]) for player in players]
        names = await self.names(channel.guild, [player for player, _ in seats])
        game = {"ruleset": place.ruleset, "teams": len(match["teams"]), "seed": match["match"],
                "players": [{"id": player, "pin": team} for player, team in seats]}
        try:
            pickup = await self.daemon.pickup("GET", own)
        except Refused as refused:
            if refused.status != 404:
                raise
            body = {"channel": str(channel.id), "names": names, "game": game}
            pickup = await self.daemon.pickup("PUT", own, body=body)
        if pickup["state"] == "picked":
            await self.post(channel, own, f":{own}", shown.match(pickup), names, buttons.of_match(pickup))
        self.done.add(own)

    async def hosted(self, channel, place, match, ticket):
        number = match["match"]
        names = await self.names(channel.guild, [player for team in match["teams"] for player in team])
        if ("go", number) not in self.done:
            go = await self.daemon.call("GET", "queues", place.queue, "tickets", ticket["ticket"])
            if go.get("address"):
                said = ", ".join(f"<@{people.user_of(player)}>" for player in names)
                text = texts.GO_ALL.format(match=number, address=go["address"].replace("`", ""), names=said)
                await self.post(channel, f"go-{number}", f"**Match {number}**", text, names, None)
                self.done.add(("go", number))
        if ("over", number) in self.done:
            return
        try:
            game = await self.daemon.call("GET", "matches", number)
        except Refused:
            return  # it is not over
        known = None not in game["scores"]
        scores = " (" + " : ".join(f"{score:g}" for score in game["scores"]) + ")" if known else ""
        text = texts.RESULT.format(match=number, result=shown.result_of(game), scores=scores)
        await self.post(channel, f"over-{number}", text.split(":")[0], text, [], None)
        self.done.add(("over", number))

    async def post(self, channel, nonce, mark, text, pinged, view):
        """Posts a message, unless one of this bot with the mark in its text or its buttons is there."""
        async for old in channel.history(limit=SEARCHED):
            ids = [item.custom_id or "" for line in old.components for item in getattr(line, "children", ())]
            if old.author == self.bot.user and (mark in old.content or any(id.endswith(mark) for id in ids)):
                return
        users = [discord.Object(people.user_of(player)) for player in pinged]
        allowed = discord.AllowedMentions(everyone=False, roles=False, users=users)
        text = "".join(f"<@{user.id}> " for user in users if f"<@{user.id}>" not in text) + text
        await channel.send(text, view=view, nonce=nonce[:25], allowed_mentions=allowed, suppress_embeds=True)

    async def names(self, guild, players):
        """The names of those players who are users here."""
        found = {}
        for player in players:
            if user := people.user_of(player):
                person = await people.member(guild, user)
                found[player] = person.display_name if person else player
        return found
