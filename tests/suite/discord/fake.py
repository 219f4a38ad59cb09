"""A fake of Discord: its HTTP interface for messages and commands, and the interactions that it sends."""
import json, threading, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

TOKEN, APPLICATION, GUILD = "the.bots.token", "100000000000000001", "200000000000000001"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.handle_any()

    def do_PUT(self):
        self.handle_any()

    def handle_any(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fake = self.server.fake
        if self.headers["Authorization"] != f"Bot {TOKEN}":
            return self.reply(401, {"message": "401: Unauthorized", "code": 0})
        if not self.headers["User-Agent"].startswith("DiscordBot ("):
            return self.reply(403, {"message": "a user agent is needed"})
        parts = self.path.split("/")
        if parts[1:4] == ["api", "v10", "channels"] and parts[5:] == ["messages"] and self.command == "POST":
            fake.message(self, parts[4], json.loads(body))
        elif self.path == f"/api/v10/applications/{APPLICATION}/guilds/{GUILD}/commands" and self.command == "PUT":
            fake.commands = json.loads(body)
            self.reply(200, fake.commands)
        else:
            self.reply(404, {"message": "404: Not Found", "code": 0})

    def reply(self, status, content, headers=()):
        text = json.dumps(content).encode()
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


class Fake:
    """Discord, with a list of failures, one for each of the next messages: 429, 500, "hang" or "lost"."""

    def __init__(self, failures=()):
        self.failures, self.faults, self.asked = list(failures), [], 0
        self.messages, self.nonces, self.commands = [], {}, None
        self.changed = threading.Condition()
        self.held_until = 0.0
        self.key = Ed25519PrivateKey.generate()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.fake, self.server.daemon_threads = self, True
        self.api = "http://127.0.0.1:%d/api/v10" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def public_key(self):
        raw = serialization.Encoding.Raw, serialization.PublicFormat.Raw
        return self.key.public_key().public_bytes(*raw).hex()

    def message(self, handler, channel, body):
        with self.changed:
            self.asked += 1
            failure = self.failures.pop(0) if self.failures else None
            if time.monotonic() < self.held_until:
                self.faults.append("the bot did not wait for as long as it was asked to")
        if failure == 429:
            self.held_until = time.monotonic() + 0.7
            limits = {"Retry-After": "1", "X-RateLimit-Scope": "user"}
            found = {"message": "You are being rate limited.", "retry_after": 0.7, "global": False}
            return handler.reply(429, found, limits)
        if failure == 500:
            return handler.reply(500, {"message": "500: Internal Server Error"})
        if failure == "hang":
            # Until the bot gives up.
            handler.connection.settimeout(60)
            handler.connection.recv(1)
            handler.close_connection = True
            return
        if why := self.wrong(body):
            self.faults.append(why)
            return handler.reply(400, {"message": why, "code": 50035})
        with self.changed:
            # An enforced nonce that was used before makes no new message.
            if (channel, body["nonce"]) not in self.nonces:
                self.messages.append((channel, body))
            self.nonces[channel, body["nonce"]] = body
            self.changed.notify_all()
        if failure == "lost":
            handler.close_connection = True
            return
        handler.reply(200, {"id": str(len(self.messages)), "channel_id": channel, "content": body["content"]})

    @staticmethod
    def wrong(body):
        """What is wrong with a message, by the published limits."""
        allowed = body.get("allowed_mentions", {})
        if not 1 <= len(body.get("content", "")) <= 2000:
            return "content must be 1 to 2000 characters"
        if not isinstance(body.get("nonce"), str) or len(body["nonce"]) > 25 or body.get("enforce_nonce") is not True:
            return "the nonce is missing or too long"
        if allowed.get("parse") != [] or len(allowed.get("users", [])) > 100:
            return "allowed_mentions would let strangers ping"
        if len(set(allowed["users"])) != len(allowed["users"]) or not all(map(str.isdecimal, allowed["users"])):
            return "allowed_mentions has wrong users"

    def wait(self, done, seconds=60):
        """Waits until a message fits, and returns the first that does."""
        with self.changed:
            fits = lambda: next((body for _, body in self.messages if done(body["content"])), None)
            assert self.changed.wait_for(fits, seconds), f"no such message: {self.messages}"
            return fits()

    def send(self, url, interaction, age=0, spoil=lambda text: text):
        """Sends a signed interaction. Returns the status and the response."""
        body = json.dumps(interaction).encode()
        timestamp = str(int(time.time()) - age)
        signature = self.key.sign(timestamp.encode() + body).hex()
        headers = {"X-Signature-Ed25519": spoil(signature), "X-Signature-Timestamp": timestamp}
        headers["Content-Type"] = "application/json"
        ask = urllib.request.Request(url + "/interactions", body, headers)
        try:
            # Discord waits for three seconds, which a busy machine may take.
            with urllib.request.urlopen(ask, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, None


def command(user, name, number, channel="300000000000000001", **options):
    """An interaction as Discord sends it for a slash command in a guild."""
    given = [{"name": key, "type": 4, "value": value} for key, value in options.items()]
    member = {"user": {"id": user, "username": "@everyone **x**", "discriminator": "0"}, "roles": [], "permissions": "0"}
    return {
        "id": str(number), "application_id": APPLICATION, "type": 2, "version": 1, "token": "a.token",
        "guild_id": GUILD, "channel_id": channel, "member": member,
        "data": {"id": "400000000000000001", "name": name, "type": 1, "options": given},
    }
