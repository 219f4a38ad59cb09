"""What the daemon reports: requests that are signed by Standard Webhooks, and pushes about tickets."""
import base64, hashlib, hmac, json, time

from text import code, mention, message, pages, plain, user_of

OLDEST = 300  # seconds that a request may be old


def is_signed(keys, headers, body, now=None):
    """Whether the daemon has signed the request by one of the keys, and not long ago."""
    now = time.time() if now is None else now
    event, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not at.isascii() or not at.isdecimal() or abs(now - int(at)) > OLDEST:
        return False
    signed = f"{event}.{at}.".encode() + body
    expected = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode() for key in keys]
    given = headers.get("webhook-signature", "")[:1024].split(" ")
    pairs = [(f"v1,{one}".encode(), two.encode()) for one in expected for two in given]
    return any([hmac.compare_digest(one, two) for one, two in pairs])


def messages(settings, event):
    """The messages of an event, as pairs of a channel and a body."""
    kind = str(event.get("type", "")).removeprefix("match.")
    data = event.get("data")
    if not isinstance(data, dict) or kind not in ("formed", "hosted", "recorded"):
        return []
    found = []
    for channel in settings.of_queue(data.get("queue")):
        if kind in channel.posts:
            lines, users = result(data) if kind == "recorded" else call(kind, data)
            found += [(channel.channel, message(text, users)) for text in pages(lines)]
    return found


def call(kind, data):
    """Pings the teams, with the address if the match is hosted."""
    head = f"**Match {number(data.get('match'))}**"
    if data.get("map"):
        head += f" on {plain(data['map'])}"
    lines = [head + (" is formed." if kind == "formed" else f": {code(data.get('address', ''))}")]
    if kind == "hosted":
        lines.append("Your pass is in the answer to /status.")
    users = []
    for team, players in enumerate(teams(data)):
        ids = [player.get("player", "") for player in players]
        users += [user_of(one) for one in ids]
        lines.append(f"Team {team + 1}: " + " ".join(map(mention, ids)))
    return lines + chances(data, "has"), users


def result(data):
    """The result and how close it was. Pings nobody."""
    scores = [team.get("score") for team in data.get("teams") or []]
    said = f"**Match {number(data.get('match'))}**"
    if data.get("map"):
        said += f" on {plain(data['map'])}"
    if all(isinstance(score, (int, float)) for score in scores) and scores:
        said += ": " + " : ".join(f"{score:g}" for score in scores)
    outcome, winner = data.get("outcome"), data.get("winner")
    if outcome == "won" and isinstance(winner, int):
        said += f". Team {winner + 1} has won"
    elif outcome == "draw":
        said += ". A draw"
    elif outcome == "abandoned":
        said += ". The game was abandoned"
    lines = [said + "."]
    for team, players in enumerate(teams(data)):
        lines.append(f"Team {team + 1}: " + ", ".join(shown(player) for player in players))
    if isinstance(data.get("closeness"), (int, float)):
        lines.append(f"Closeness: {100 * data['closeness']:.0f} %.")
    return lines + chances(data, "had"), []


def chances(data, has):
    """A line for what was predicted of the teams as they were picked, and one for the teams as they started."""
    told = data.get("chances")
    lines = []
    for key in ("picked", "started"):
        teams = told.get(key) if isinstance(told, dict) else None
        win = numbers(teams.get("win")) if isinstance(teams, dict) else []
        if win:
            sizes = [sum(both) for both in zip(numbers(teams.get("humans")), numbers(teams.get("bots")))]
            of = f" ({' v '.join(f'{size:g}' for size in sizes)})" if sizes else ""
            best = max(range(len(win)), key=lambda team: win[team])
            chance = f"{100 * win[best]:.0f} %"
            lines.append(f"As {key}{of}, team {best + 1} {has} a chance of {chance} to win.")
    return lines


def numbers(them):
    """The numbers of the teams; none if anything else was sent."""
    them = them[:8] if isinstance(them, list) else []
    return them if all(isinstance(one, (int, float)) and 0 <= one < 1e6 for one in them) else []


def teams(data):
    for team in (data.get("teams") or [])[:8]:
        players = team.get("players") if isinstance(team, dict) else None
        yield [player for player in players or [] if isinstance(player, dict)]


def shown(player):
    """A user of Discord by a mention that pings nobody, any other player by name."""
    own = player.get("player", "")
    return mention(own) if user_of(own) else plain(player.get("name") or own)


def number(match):
    return match if isinstance(match, int) else "?"


def receive(settings, memory, body):
    """Keeps the messages of a request whose signature is right. Returns whether it was a known kind of content."""
    try:
        event = json.loads(body)
        event_id = event["id"]
        assert isinstance(event_id, str) and 0 < len(event_id) <= 64
        found = messages(settings, event)
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError):
        return False
    memory.post_once(event_id, found)
    return True


def push(memory, words):
    """Tells a user what has happened to the ticket, where no webhook does."""
    said = {
        "EXPIRED": "your wait has ended: nobody was found in time.",
        "REQUEUED": "the match is not played. You wait again, with the time that you have waited.",
        "PROPOSED": "a match is proposed to you: /accept or /decline it.",
    }.get(words[0])
    ticket = words[2] if words[0] == "PROPOSED" and len(words) > 2 else words[1] if len(words) > 1 else ""
    if words[0] == "CANCELLED" and words[2:] == ["reconfigured"]:
        said = "the queue does not accept you any more: it was configured again."
    owner = said and memory.owner(ticket)
    if not owner:
        return
    user, channel = owner
    about = words[1] if words[0] == "PROPOSED" else f"{time.time():.0f}" if words[0] == "REQUEUED" else ""
    key = hashlib.sha256(f"{words[0]} {ticket} {about}".encode()).hexdigest()[:20]
    memory.post_once(key, [(channel, message(f"<@{user}>, {said}", [user]))])
