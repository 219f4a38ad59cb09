"""A fake of Discord's gateway and REST interface, as far as the bot uses them, with the people of one server."""
import asyncio, json

from aiohttp import WSMsgType, web

APPLICATION, GUILD, EVERYONE = "100000000000000001", "200000000000000001", "200000000000000001"
ORGANISER_ROLE = "210000000000000001"
TEXT, VOICE = 0, 2
EPHEMERAL = 64


def reply(content, status=200):
    # The library compares the whole field.
    return web.Response(body=json.dumps(content).encode(), status=status, headers={"Content-Type": "application/json"})


def user(id, name, bot=False):
    return {"id": id, "username": name.lower().replace(" ", "_"), "global_name": name, "discriminator": "0", "avatar": None, "bot": bot}


class Fake:
    """`people` and `channels` are names by id; `voice` says who is in which voice channel."""

    def __init__(self, people, channels, voices):
        self.people, self.channels, self.voices = people, channels, voices
        self.voice = {}
        self.organisers = set()
        self.sessions, self.messages, self.calls = [], {}, {}
        self.number, self.faults, self.commands, self.notes, self.moves, self.looks = 600000000000000000, [], [], [], [], 0
        self.changed = asyncio.Condition()

    def next(self):
        self.number += 1
        return str(self.number)

    async def start(self):
        app = web.Application()
        base = "/api/v10"
        app.add_routes([
            web.get("/gateway/", self.gateway),
            web.get(base + "/users/@me", self.me),
            web.get(base + "/oauth2/applications/@me", self.application),
            web.put(base + "/applications/{app}/commands", self.set_commands),
            web.post(base + "/interactions/{id}/{token}/callback", self.callback),
            web.patch(base + "/webhooks/{app}/{token}/messages/@original", self.edit),
            web.post(base + "/webhooks/{app}/{token}", self.follow),
            web.get(base + "/channels/{id}/messages", self.history),
            web.post(base + "/channels/{id}/messages", self.post),
            web.get(base + "/guilds/{guild}/members/{user}", self.get_member),
            web.patch(base + "/guilds/{guild}/members/{user}", self.move),
        ])
        self.runner = web.AppRunner(app)
        await self.runner.setup()
        site = web.TCPSite(self.runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]
        self.api, self.url = f"http://127.0.0.1:{port}{base}", f"ws://127.0.0.1:{port}/gateway/"

    async def tell(self):
        async with self.changed:
            self.changed.notify_all()

    async def wait(self, done, seconds):
        """Waits until something is as it must become. Returns it; None after so many seconds."""
        async with self.changed:
            try:
                await asyncio.wait_for(self.changed.wait_for(done), seconds)
            except asyncio.TimeoutError:
                return None
        return done()

    # The gateway

    async def gateway(self, request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"op": 10, "d": {"heartbeat_interval": 41250}, "s": None, "t": None})
        session = {"socket": socket, "seq": 0, "ready": False}
        async for message in socket:
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                break
            asked = json.loads(message.data)
            if asked["op"] == 1:
                await socket.send_json({"op": 11, "d": None, "s": None, "t": None})
            elif asked["op"] == 2:
                self.sessions.append(session)
                await self.identify(session)
            elif asked["op"] == 6:
                await socket.send_json({"op": 9, "d": False, "s": None, "t": None})
        if session in self.sessions:
            self.sessions.remove(session)
        await self.tell()
        return socket

    async def identify(self, session):
        ready = {"v": 10, "user": user(APPLICATION, "Evenkeel", True), "guilds": [{"id": GUILD, "unavailable": True}],
                 "session_id": self.next(), "resume_gateway_url": self.url, "application": {"id": APPLICATION, "flags": 0}}
        await self.send(session, "READY", ready)
        await self.send(session, "GUILD_CREATE", self.guild())
        session["ready"] = True
        await self.tell()

    async def send(self, session, name, data):
        session["seq"] += 1
        try:
            await session["socket"].send_json({"op": 0, "d": data, "s": session["seq"], "t": name})
        except (ConnectionError, RuntimeError):
            pass

    async def dispatch(self, name, data):
        for session in [one for one in self.sessions if one["ready"]]:
            await self.send(session, name, data)

    def guild(self):
        role = {"permissions": "0", "color": 0, "hoist": False, "managed": False, "mentionable": False, "flags": 0, "position": 0}
        roles = [{**role, "id": EVERYONE, "name": "@everyone"}, {**role, "id": ORGANISER_ROLE, "name": "Organiser", "position": 1}]
        channel = lambda id, name, kind: {"id": id, "type": kind, "name": name, "guild_id": GUILD, "position": 0, "permission_overwrites": [],
                                          "nsfw": False, "parent_id": None, "bitrate": 64000, "user_limit": 0}
        channels = [channel(id, name, TEXT) for id, name in self.channels.items()]
        channels += [channel(id, name, VOICE) for id, name in self.voices.items()]
        members = [self.member(APPLICATION), *(self.member(one) for one in self.voice)]
        return {"id": GUILD, "name": "Club", "owner_id": "1", "roles": roles, "channels": channels, "members": members, "threads": [],
                "voice_states": [self.voice_state(one) for one in self.voice], "member_count": len(self.people) + 1, "emojis": [],
                "stickers": [], "features": [], "stage_instances": [], "guild_scheduled_events": [], "soundboard_sounds": [],
                "presences": [], "large": False, "unavailable": False, "verification_level": 0, "default_message_notifications": 0,
                "explicit_content_filter": 0, "mfa_level": 0, "nsfw_level": 0, "premium_tier": 0, "system_channel_flags": 0,
                "preferred_locale": "en-US", "afk_timeout": 300, "joined_at": "2026-01-01T00:00:00+00:00"}

    def member(self, id):
        own = user(id, self.people.get(id, "Evenkeel"), id == APPLICATION)
        roles = [ORGANISER_ROLE] if id in self.organisers else []
        return {"user": own, "nick": None, "roles": roles, "joined_at": "2026-01-01T00:00:00+00:00", "deaf": False, "mute": False,
                "flags": 0, "permissions": "0", "avatar": None, "premium_since": None, "pending": False}

    def voice_state(self, id):
        return {"guild_id": GUILD, "channel_id": self.voice[id], "user_id": id, "session_id": "v" + id, "deaf": False, "mute": False,
                "self_deaf": False, "self_mute": False, "self_video": False, "suppress": False, "request_to_speak_timestamp": None}

    async def go(self, id, channel):
        """Somebody goes to a voice channel."""
        self.voice[id] = channel
        await self.dispatch("VOICE_STATE_UPDATE", {**self.voice_state(id), "member": self.member(id)})
        await self.tell()

    # What people do

    async def interact(self, who, channel, kind, data, message=None):
        """Sends an interaction, and returns its token."""
        id = self.next()
        token = f"token{id}"
        self.calls[token] = {"id": id, "message": message, "done": None, "answered": False, "channel": channel, "who": who, "dispatched": len(self.sessions)}
        event = {"id": id, "application_id": APPLICATION, "type": kind, "data": data, "guild_id": GUILD, "channel_id": channel,
                 "channel": {"id": channel, "type": TEXT, "name": self.channels[channel], "guild_id": GUILD, "position": 0,
                             "permission_overwrites": [], "nsfw": False, "parent_id": None, "permissions": "0"},
                 "member": self.member(who), "token": token, "version": 1, "app_permissions": "17882112", "locale": "en-US",
                 "guild_locale": "en-US", "entitlements": [], "authorizing_integration_owners": {"0": GUILD}, "context": 0,
                 "attachment_size_limit": 1048576}
        if message:
            event["message"] = self.messages[message]
        await self.dispatch("INTERACTION_CREATE", event)
        return token

    async def command(self, who, channel, typed, **options):
        own = next((one for one in self.commands if one["name"] == typed), {"id": "0"})
        kind = lambda key, value: 6 if key == "user" else 4 if isinstance(value, int) else 3
        values = [{"name": key, "type": kind(key, value), "value": value} for key, value in options.items()]
        meant = self.member(options["user"]) if "user" in options else None
        resolved = {"users": {options["user"]: meant["user"]}, "members": {options["user"]: meant}} if meant else {}
        data = {"id": own["id"], "name": typed, "type": 1, "options": values, "resolved": resolved}
        return await self.interact(who, channel, 2, data)

    async def press(self, who, message, custom_id):
        found = self.messages[message]
        return await self.interact(who, found["channel_id"], 3, {"custom_id": custom_id, "component_type": 2}, message)

    def has_answered(self, token):
        """Whether the bot has answered this interaction; nothing to do is answered, too."""
        return token is None or self.calls[token]["answered"]

    # REST

    async def me(self, _):
        return reply(user(APPLICATION, "Evenkeel", True))

    async def application(self, _):
        return reply({"id": APPLICATION, "name": "Evenkeel", "icon": None, "description": "", "bot_public": True,
                                  "bot_require_code_grant": False, "verify_key": "00", "flags": 0, "owner": user("1", "Owner"), "team": None})

    async def set_commands(self, request):
        given = await request.json()
        self.commands = [{"default_member_permissions": None, "nsfw": False, "version": "1", **one, "id": self.next(),
                          "application_id": APPLICATION} for one in given]
        return reply(self.commands)

    async def callback(self, request):
        call, asked = self.calls[request.match_info["token"]], await request.json()
        if call["done"]:
            return reply({"code": 40060, "message": "Interaction has already been acknowledged."}, status=400)
        call["done"], data = asked["type"], asked.get("data") or {}
        call["answered"] = asked["type"] not in (5, 6)  # these two promise an answer
        call["hidden"] = bool((data.get("flags") or 0) & EPHEMERAL)
        made = None
        if asked["type"] == 4:  # a message of its own, also where a button was pressed
            call["message"] = None
            made = self.change(call, data)
        await self.tell()
        answer = {"interaction": {"id": call["id"], "type": 2, "response_message_id": call["message"],
                                  "response_message_loading": asked["type"] == 5, "response_message_ephemeral": call["hidden"]}}
        if made:
            answer["resource"] = {"type": 4, "message": made}
        return reply(answer)

    def change(self, call, data):
        """Makes or changes the message of an interaction."""
        id = call["message"]
        if id is None:
            id = call["message"] = self.next()
            self.messages[id] = self.message(id, call["channel"], call.get("hidden"))
        self.messages[id].update({key: data[key] for key in ("content", "components") if data.get(key) is not None})
        self.check(data)
        return self.messages[id]

    def message(self, id, channel, hidden=False):
        return {"id": id, "channel_id": channel, "author": user(APPLICATION, "Evenkeel", True), "content": "", "components": [],
                "timestamp": "2026-01-01T00:00:00+00:00", "edited_timestamp": None, "tts": False, "mention_everyone": False, "mentions": [],
                "mention_roles": [], "attachments": [], "embeds": [], "pinned": False, "type": 0, "flags": EPHEMERAL if hidden else 0}

    def check(self, data):
        """What Discord refuses, or what no message of the bot may contain."""
        if len(data.get("content") or "") > 2000:
            self.faults.append("a message is too long")
        allowed = data.get("allowed_mentions")
        if data.get("content") and "<@" in data["content"] and not allowed:
            self.faults.append("a message may ping")
        if allowed and "everyone" in (allowed.get("parse") or []):
            self.faults.append("a message may ping everyone")

    async def edit(self, request):
        call = self.calls[request.match_info["token"]]
        call["answered"] = True
        made = self.change(call, await request.json())
        await self.tell()
        return reply(made)

    async def follow(self, request):
        call, data = self.calls[request.match_info["token"]], await request.json()
        call["answered"] = True
        self.check(data)
        self.notes.append((call["who"], data.get("content")))
        await self.tell()
        return reply({**self.message(self.next(), call["channel"], True), "content": data.get("content") or ""})

    async def history(self, request):
        channel = request.match_info["id"]
        self.looks += 1
        await self.tell()
        found = [one for one in self.messages.values() if one["channel_id"] == channel and not one["flags"] & EPHEMERAL]
        return reply(found[::-1][: int(request.query.get("limit", 50))])

    async def post(self, request):
        data, channel = await request.json(), request.match_info["id"]
        same = [one for one in self.messages.values() if data.get("nonce") and one.get("nonce") == data["nonce"]]
        if same:
            return reply(same[0])
        id = self.next()
        self.messages[id] = {**self.message(id, channel), "nonce": data.get("nonce"), "content": data.get("content") or "",
                             "components": data.get("components") or []}
        self.check(data)
        await self.tell()
        return reply(self.messages[id])

    async def get_member(self, request):
        id = request.match_info["user"]
        if id not in self.people:
            return reply({"code": 10007, "message": "Unknown Member"}, status=404)
        return reply(self.member(id))

    async def move(self, request):
        id, asked = request.match_info["user"], await request.json()
        if id not in self.voice:
            return reply({"code": 40032, "message": "Target user is not connected to voice."}, status=400)
        self.moves.append((id, str(asked["channel_id"])))
        await self.go(id, str(asked["channel_id"]))
        return reply(self.member(id))


def buttons(message):
    """The ids of the buttons of a message."""
    return [one["custom_id"] for row in message["components"] for one in row.get("components", ())]
