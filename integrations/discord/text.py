"""Text for Discord. Names, maps and servers come from strangers: none may ping, format or fill a message."""
import re

CONTENT = 2000  # the longest message that Discord takes, in characters
NAME = 48  # the longest name that is shown
PLAYER = re.compile(r"discord-(\d{5,20})")  # the id by which this bot queues a user
HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def plain(text, most=NAME):
    """Text that is shown as it is: without control characters, formatting, links and mentions."""
    text = HIDDEN.sub(" ", str(text))
    text = text if len(text) <= most else text[: most - 1] + "…"
    text = re.sub(r"([\\`*_~|>#\-+.!\[\](){}<:/])", r"\\\1", text)
    return text.replace("@", "@\u200b")


def code(text, most=200):
    """Text in a code span, in which nothing is interpreted and which is easy to copy."""
    return "`" + HIDDEN.sub(" ", str(text)).replace("`", "'")[:most] + "`"


def player_of(user):
    return f"discord-{user}"


def user_of(player):
    """The Discord user with this player id; None for players of other clients."""
    found = PLAYER.fullmatch(str(player))
    return found and found[1]


def mention(player):
    """A mention of a player's user, or the plain id. Whether it pings is for `allowed_mentions` to say."""
    user = user_of(player)
    return f"<@{user}>" if user else plain(player)


def pages(lines):
    """The lines as texts of at most CONTENT characters each. A line that is too long is cut between words."""
    texts, text = [], ""
    for line in lines:
        for part in parts(line):
            if text and len(text) + 1 + len(part) > CONTENT:
                texts.append(text)
                text = ""
            text = f"{text}\n{part}" if text else part
    return texts + [text] if text else texts


def parts(line):
    while len(line) > CONTENT:
        cut = line.rfind(" ", 1, CONTENT)
        cut = cut if cut > 0 else CONTENT
        yield line[:cut]
        line = line[cut:].lstrip(" ")
    yield line


def message(content, users=()):
    """A message that pings these users and nobody else, and shows no previews of links."""
    users = sorted({user for user in users if user and f"<@{user}>" in content})
    return {"content": content, "flags": 4, "allowed_mentions": {"parse": [], "users": users[:100]}}
