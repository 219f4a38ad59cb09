"""The configuration of the bot: a TOML file, as example.toml shows. Every mistake ends the program with a reason."""
import base64, os, re, tomllib
from dataclasses import dataclass, field

TYPES = {"string": 3, "integer": 4, "boolean": 5, "number": 10}  # of options, as Discord numbers them
POSTS = ("formed", "hosted", "recorded")


class Mistake(Exception):
    """What is wrong with the configuration."""


@dataclass(frozen=True)
class Channel:
    guild: str
    channel: str
    queue: str
    posts: tuple
    options: dict  # by name, as they are in the file


@dataclass(frozen=True)
class Settings:
    application: str
    public_key: bytes
    token: str = field(repr=False)
    api: str
    daemon: tuple
    name: str
    daemon_token: str | None = field(repr=False)
    listen: tuple
    keys: tuple = field(repr=False)  # of the webhook
    database: str
    channels: tuple

    def channel(self, guild, channel):
        return next((c for c in self.channels if (c.guild, c.channel) == (guild, channel)), None)

    def of_queue(self, queue):
        return [c for c in self.channels if c.queue == queue]


def load(path):
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Mistake(f"{path}: {error}") from error
    discord, daemon, webhook = (section(table, name) for name in ("discord", "daemon", "webhook"))
    channels = table.pop("channel", [])
    database, listen = text(table, "database", "discord.db"), address(table, "listen", "127.0.0.1:8085")
    settings = Settings(
        application=snowflake(discord, "application"),
        public_key=public_key(discord),
        token=secret(discord, "token", "token_file", "DISCORD_TOKEN"),
        api=text(discord, "api", "https://discord.com/api/v10").rstrip("/"),
        daemon=address(daemon, "address", "127.0.0.1:7997"),
        name=text(daemon, "name", "discord"),
        daemon_token=secret(daemon, "token", "token_file", "EVENKEEL_TOKEN", needed=False),
        listen=listen,
        keys=tuple(webhook_keys(secret(webhook, "secret", "secret_file", "EVENKEEL_WEBHOOK_SECRET"))),
        database=database,
        channels=tuple(channel_of(one) for one in channels),
    )
    for left, name in ((table, path), (discord, "[discord]"), (daemon, "[daemon]"), (webhook, "[webhook]")):
        if left:
            raise Mistake(f"{name}: unknown key {next(iter(left))}")
    if not settings.channels:
        raise Mistake("there is no [[channel]]")
    if not re.fullmatch(r"[!-~]{1,64}", settings.name) or '"' in settings.name:
        raise Mistake("[daemon] name must be 1 to 64 visible characters")
    return settings


def section(table, name):
    found = table.pop(name, {})
    if not isinstance(found, dict):
        raise Mistake(f"{name} must be a section, [{name}]")
    return found


def text(table, key, default=None):
    value = table.pop(key, default)
    if not isinstance(value, str) or not value:
        raise Mistake(f"{key} must be text in quotes")
    return value


def snowflake(table, key):
    value = text(table, key)
    if not re.fullmatch(r"\d{5,20}", value):
        raise Mistake(f"{key} must be an id of Discord: digits in quotes")
    return value


def public_key(table):
    value = text(table, "public_key")
    if not re.fullmatch(r"[0-9a-fA-F]{64}", value):
        raise Mistake("public_key must be 64 hexadecimal digits, as the developer portal shows them")
    return bytes.fromhex(value)


def address(table, key, default):
    host, _, port = text(table, key, default).rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise Mistake(f"{key} must be an address such as {default}")
    return host.strip("[]"), int(port)


def secret(table, key, file_key, variable, needed=True):
    """A secret from the environment, from a file or from the configuration."""
    value, path = table.pop(key, None), table.pop(file_key, None)
    value = os.environ.get(variable) or value
    if path and not value:
        try:
            with open(path, encoding="utf-8") as file:
                value = file.read(4096).strip()
        except OSError as error:
            raise Mistake(f"{file_key}: {error}") from error
    if not value and needed:
        raise Mistake(f"{key} is missing: set {variable}, {file_key} or {key}")
    return value


def webhook_keys(secrets):
    for one in secrets.split():
        try:
            key = base64.b64decode(one.removeprefix("whsec_"), validate=True)
        except ValueError:
            key = b""
        if not one.startswith("whsec_") or not 24 <= len(key) <= 64:
            raise Mistake("the webhook's secret must be what `evenkeel webhook secret` has printed")
        yield key


def channel_of(table):
    if not isinstance(table, dict):
        raise Mistake("channel must be in double brackets, [[channel]]")
    options = {}
    for option in table.pop("option", []):
        name = option.get("name", "")
        if not re.fullmatch(r"[-_a-z0-9]{1,32}", name) or option.get("type") not in TYPES:
            raise Mistake("an option needs a name in small letters, and a type: " + ", ".join(TYPES))
        if unknown := set(option) - {"name", "type", "description", "required", "choices", "min", "max"}:
            raise Mistake(f"option {name}: unknown key {unknown.pop()}")
        options[name] = option
    posts = tuple(table.pop("posts", ["hosted", "recorded"]))
    if len(options) > 25 or not set(posts) <= set(POSTS):
        raise Mistake("a channel has at most 25 options, and posts: " + ", ".join(POSTS))
    queue = text(table, "queue")
    if not re.fullmatch(r"[^\s\"\\]{1,64}", queue):
        raise Mistake("queue must be the name of a queue")
    found = Channel(snowflake(table, "guild"), snowflake(table, "channel"), queue, posts, options)
    if table:
        raise Mistake(f"[[channel]]: unknown key {next(iter(table))}")
    return found
