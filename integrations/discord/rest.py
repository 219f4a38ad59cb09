"""Discord's HTTP interface: posts messages in their order, and waits when it is asked to."""
import json, logging, random, threading, time, urllib.error, urllib.request

LIMIT = 10.0  # seconds of a request
LONGEST = 65_536  # bytes of an answer that are read
AGENT = "DiscordBot (https://github.com/evenkeel/evenkeel, 0.1)"  # Discord wants this form


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None  # the token must not go anywhere else


OPENER = urllib.request.build_opener(NoRedirects, urllib.request.ProxyHandler({}))


def request(settings, method, path, body):
    """Returns the status, the headers and the JSON of the answer, whatever the status is. Fails with OSError."""
    headers = {"Authorization": f"Bot {settings.token}", "Content-Type": "application/json", "User-Agent": AGENT}
    ask = urllib.request.Request(settings.api + path, json.dumps(body).encode(), headers, method=method)
    try:
        answer = OPENER.open(ask, timeout=LIMIT)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        text = answer.read(LONGEST)
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        return answer.status, answer.headers, found if isinstance(found, dict) else {}


def number(text, default):
    """A number of seconds that Discord has sent, within bounds."""
    try:
        seconds = float(text)
    except (TypeError, ValueError):
        return default
    return min(max(seconds, 0.0), 3_600.0) if seconds == seconds else default


class Poster(threading.Thread):
    """Posts the messages that the memory keeps. One that fails is posted again, before those behind it."""

    def __init__(self, settings, memory):
        super().__init__(daemon=True, name="poster")
        self.settings, self.memory, self.wake = settings, memory, threading.Event()
        self.pause = {}  # channel, or None for all: until when it gets nothing

    def run(self):
        while True:
            try:
                self.round()
            except Exception:
                logging.exception("messages cannot be posted")
                time.sleep(1.0)
            self.wake.wait(0.5)
            self.wake.clear()

    def round(self):
        if lost := self.memory.tidy():
            logging.warning("%d messages were dropped: they could not be posted in time", lost)
        for post in self.memory.due():
            now = time.monotonic()
            if max(self.pause.get(None, 0), self.pause.get(post[1], 0)) <= now:
                self.post(*post)

    def post(self, message, channel, nonce, body, tries):
        # With the nonce enforced, a message whose answer was lost is not posted twice within minutes.
        body = {**body, "nonce": nonce, "enforce_nonce": True}
        try:
            status, headers, found = request(self.settings, "POST", f"/channels/{channel}/messages", body)
        except OSError as error:
            status, headers, found = 0, {}, {"message": str(error)}
        if 200 <= status < 300:
            self.memory.posted(message)
            if headers.get("X-RateLimit-Remaining") == "0":
                self.hold(channel, number(headers.get("X-RateLimit-Reset-After"), 1.0))
            self.wake.set()
        elif status == 429:
            wait = number(found.get("retry_after"), number(headers.get("Retry-After"), 5.0))
            self.hold(None if found.get("global") else channel, wait)
            self.memory.again(message, wait)
        elif status in (400, 403, 404, 405, 413):
            logging.error("channel %s refuses a message: %s %s", channel, status, str(found.get("message"))[:200])
            self.memory.posted(message)
        else:
            wait = 60.0 if status == 401 else min(2.0 ** min(tries, 6), 60.0) * random.uniform(0.5, 1.0)
            logging.warning("Discord: %s %s; again in %.1f s", status, str(found.get("message"))[:200], wait)
            self.memory.again(message, wait)

    def hold(self, channel, seconds):
        self.pause[channel] = time.monotonic() + seconds


def commands(channels):
    """The slash commands of a guild. /join has the options of all its channels."""
    options = {}
    for one in (option for channel in channels for option in channel.options.values()):
        options.setdefault(one["name"], one)
    return [
        {"name": "join", "description": "Wait for a match", "options": [option_of(one) for one in options.values()]},
        {"name": "leave", "description": "Leave the queue"},
        {"name": "status", "description": "What your place in the queue is, or where your match is played"},
        {"name": "accept", "description": "Accept the match that is proposed to you"},
        {"name": "decline", "description": "Decline the match that is proposed to you, and leave the queue"},
    ]


def option_of(option):
    from settings import TYPES

    found = {"type": TYPES[option["type"]], "name": option["name"]}
    found["description"] = str(option.get("description") or option["name"])[:100]
    if choices := option.get("choices"):
        found["choices"] = [{"name": str(choice)[:100], "value": choice} for choice in choices[:25]]
    found |= {f"{end}_value": option[end] for end in ("min", "max") if end in option}
    return found


def register(settings):
    """Sets the slash commands of every guild of the configuration, in place of all others of this bot."""
    for guild in sorted({channel.guild for channel in settings.channels}):
        own = commands([channel for channel in settings.channels if channel.guild == guild])
        path = f"/applications/{settings.application}/guilds/{guild}/commands"
        status, headers, found = request(settings, "PUT", path, own)
        while status == 429:
            time.sleep(number(found.get("retry_after"), 5.0))
            status, headers, found = request(settings, "PUT", path, own)
        if status != 200:
            raise SystemExit(f"guild {guild} refuses the commands: {status} {found.get('message', '')}")
        print(f"guild {guild}: {len(own)} commands")
