"""What the bot must not forget: tickets, events that it has seen, and messages that it has yet to post."""
import json, sqlite3, threading, time

KEEP = 7 * 86_400  # how long events and tickets are known, in seconds
STALE = 3_600  # how long a message may wait, in seconds: later nobody wants it
MOST = 1_000  # the most messages that wait

SCHEMA = """
CREATE TABLE IF NOT EXISTS tickets (user TEXT, queue TEXT, ticket TEXT UNIQUE, channel TEXT, at REAL,
                                    PRIMARY KEY (user, queue));
CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, at REAL);
CREATE TABLE IF NOT EXISTS posts (number INTEGER PRIMARY KEY AUTOINCREMENT, channel TEXT, nonce TEXT, body TEXT,
                                  at REAL, tries INTEGER DEFAULT 0, due REAL DEFAULT 0);
"""


class Memory:
    def __init__(self, path):
        self.lock = threading.Lock()
        self.base = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.base.execute("PRAGMA journal_mode = WAL")
        self.base.executescript(SCHEMA)

    def run(self, statement, *values):
        with self.lock:
            return self.base.execute(statement, values).fetchall()

    # Tickets: one for each user and queue, the latest.

    def ticket(self, user, queue):
        found = self.run("SELECT ticket FROM tickets WHERE user = ? AND queue = ?", user, queue)
        return found[0][0] if found else None

    def owner(self, ticket):
        """The user and the channel of a ticket."""
        found = self.run("SELECT user, channel FROM tickets WHERE ticket = ?", ticket)
        return found[0] if found else None

    def remember(self, user, queue, ticket, channel):
        self.run("INSERT OR REPLACE INTO tickets VALUES (?, ?, ?, ?, ?)", user, queue, ticket, channel, time.time())

    def forget(self, ticket):
        self.run("DELETE FROM tickets WHERE ticket = ?", ticket)

    # Messages: an event and its messages are one transaction, so that an event that comes twice posts once.

    def post_once(self, event, messages):
        """Keeps the messages, pairs of a channel and a body, unless the event is known. Returns whether it is new."""
        now = time.time()
        with self.lock:
            self.base.execute("BEGIN IMMEDIATE")
            try:
                new = self.base.execute("INSERT OR IGNORE INTO events VALUES (?, ?)", (event, now)).rowcount == 1
                for page, (channel, body) in enumerate(messages if new else ()):
                    nonce = f"{event.removeprefix('evt_')[:20]}.{page}"[:25]
                    row = (channel, nonce, json.dumps(body), now)
                    self.base.execute("INSERT INTO posts (channel, nonce, body, at) VALUES (?, ?, ?, ?)", row)
                self.base.execute("COMMIT")
            except BaseException:
                self.base.execute("ROLLBACK")
                raise
        return new

    def due(self):
        """The oldest message of each channel whose time has come: (number, channel, nonce, body, tries)."""
        heads = "SELECT min(number) FROM posts GROUP BY channel"
        found = f"SELECT number, channel, nonce, body, tries FROM posts WHERE number IN ({heads}) AND due <= ?"
        return [(*row[:3], json.loads(row[3]), row[4]) for row in self.run(found, time.time())]

    def posted(self, number):
        self.run("DELETE FROM posts WHERE number = ?", number)

    def again(self, number, seconds):
        self.run("UPDATE posts SET tries = tries + 1, due = ? WHERE number = ?", time.time() + seconds, number)

    def tidy(self):
        """Drops what is too old or too much. Returns the number of messages that are lost."""
        now = time.time()
        self.run("DELETE FROM events WHERE at < ?", now - KEEP)
        self.run("DELETE FROM tickets WHERE at < ?", now - KEEP)
        most = "number <= (SELECT number FROM posts ORDER BY number DESC LIMIT 1 OFFSET ?)"
        lost = self.run(f"DELETE FROM posts WHERE at < ? OR {most} RETURNING number", now - STALE, MOST)
        return len(lost)
