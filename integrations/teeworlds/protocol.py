"""The network protocol of Teeworlds 0.7, as far as a player needs it.

A packet has 7 bytes of header, then chunks, which may be compressed by a Huffman code. A chunk has a message; vital
ones are sent again until they are acknowledged. Numbers are of variable length. Written from `src/engine/shared` of
version 0.7.5, whose table of frequencies is part of the protocol.
"""

import secrets
import socket
import time

VERSION = "0.7 802f1be60a05665f"
CLIENT_VERSION = 0x0705
NO_TOKEN = 0xffffffff
CONTROL, RESEND, COMPRESSED, CONNLESS = 1, 2, 4, 8
VITAL = 1
KEEP_ALIVE, CONNECT, ACCEPT, CLOSE, TOKEN = 0, 1, 2, 4, 5
MAX_SEQUENCE = 1 << 10
# How often each byte, and the end, is in packets.
FREQUENCIES = [int(word) for word in """
1073741824 4545 2657 431 1950 919 444 482 2244 617 838 542 715 1814 304 240 754 212 647 186 283 131 146 166 543 164 167
136 179 859 363 113 157 154 204 108 137 180 202 176 872 404 168 134 151 111 113 109 120 126 129 100 41 20 16 22 18 18 17
19 16 37 13 21 362 166 99 78 95 88 81 70 83 284 91 187 77 68 52 68 59 66 61 638 71 157 50 46 69 43 11 24 13 19 10 12 12
20 14 9 20 20 10 10 15 15 12 12 7 19 15 14 13 18 35 19 17 14 8 5 15 17 9 15 14 18 8 10 2173 134 157 68 188 60 170 60 194
62 175 71 148 67 167 78 211 67 156 69 1674 90 174 53 147 89 181 51 174 63 163 80 167 94 128 122 223 153 218 77 200 110
190 73 174 69 145 66 277 143 141 60 136 53 180 57 142 57 158 61 166 112 152 92 26 22 21 28 20 26 30 21 32 27 20 17 23 21
30 22 22 21 27 25 17 27 23 18 39 26 15 21 12 18 18 27 20 18 15 19 11 17 33 12 18 15 19 18 16 26 17 18 9 10 25 22 22 17 20
16 6 16 15 20 14 18 24 335 1""".split()]
END = 256


def huffman_tree():
    """The tree as pairs of nodes; a leaf is a number. The two rarest nodes are joined, of equals the later ones."""
    nodes = [(frequency, symbol) for symbol, frequency in enumerate(FREQUENCIES)]
    while len(nodes) > 1:
        nodes.sort(key=lambda node: -node[0])
        (low, zero), (next_low, one) = nodes.pop(), nodes.pop()
        nodes.append((low + next_low, (zero, one)))
    return nodes[0][1]


def huffman_table(tree):
    """For each node and each byte that follows: the bytes that come out, and the next node."""
    numbers, inner = {}, []

    def number(node):
        if isinstance(node, tuple) and id(node) not in numbers:
            numbers[id(node)] = len(inner)
            inner.append(node)
            number(node[0])
            number(node[1])

    number(tree)
    table = []
    for start in inner:
        row = []
        for byte in range(256):
            node, out, ended = start, bytearray(), False
            for bit in range(8):
                node = node[byte >> bit & 1]
                if not isinstance(node, tuple):
                    if node == END:
                        ended = True
                        break
                    out.append(node)
                    node = tree
            row.append((bytes(out), None if ended else numbers[id(node)]))
        table.append(row)
    return table


HUFFMAN = huffman_table(huffman_tree())


def decompress(data):
    out, node = bytearray(), 0
    for byte in data:
        part, node = HUFFMAN[node][byte]
        out += part
        if node is None:
            break
    return bytes(out)


def number(value):
    """A number as it is sent."""
    sign = 0x40 if value < 0 else 0
    value = ~value if value < 0 else value
    first, value = sign | value & 0x3f, value >> 6
    out = bytearray()
    while value:
        out.append(first | 0x80)
        first, value = value & 0x7f, value >> 7
    out.append(first)
    return bytes(out)


def text(value):
    return value.encode() + b"\0"


class Reader:
    """Reads a message; raises IndexError at its end."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def number(self):
        byte = self.data[self.at]
        self.at += 1
        negative, value, shift = byte & 0x40, byte & 0x3f, 6
        while byte & 0x80:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
        return ~value if negative else value

    def text(self):
        end = self.data.index(b"\0", self.at)
        value = self.data[self.at:end].decode(errors="replace")
        self.at = end + 1
        return value


class Connection:
    """A connection to a server: call `update` often, and `receive` when the socket has something."""

    def __init__(self, port, host="127.0.0.1"):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self.socket.connect((host, port))
        self.token, self.peer = secrets.randbelow(NO_TOKEN), NO_TOKEN
        self.state = "token"
        self.sequence = self.ack = 0
        # Vital chunks that are not acknowledged: sequence, data, when they were sent.
        self.unacknowledged = []
        self.sent = self.asked = 0.0

    def fileno(self):
        return self.socket.fileno()

    def packet(self, flags, chunks, data, token=None):
        head = bytes([flags << 2 | self.ack >> 8, self.ack & 0xff, chunks])
        token = self.peer if token is None else token
        try:
            self.socket.send(head + token.to_bytes(4, "big") + data)
        except OSError:
            pass  # the server is gone, or not there yet
        self.sent = time.monotonic()

    def ask(self, message):
        """Asks for the server's token or for a connection; padded, so that nobody can use servers to flood others."""
        self.asked = time.monotonic()
        self.packet(CONTROL, 0, bytes([message]) + self.token.to_bytes(4, "big") + bytes(508))

    def send(self, system, message, data=b"", vital=True):
        payload = number(message << 1 | system) + data
        if vital:
            self.sequence = (self.sequence + 1) % MAX_SEQUENCE
            self.unacknowledged.append([self.sequence, payload, time.monotonic()])
            self.chunk(VITAL, payload, self.sequence)
        else:
            self.chunk(0, payload, 0)

    def chunk(self, flags, payload, sequence):
        size = len(payload)
        head = bytes([flags << 6 | size >> 6 & 0x3f, size & 0x3f | sequence >> 2 & 0xc0])
        if flags & VITAL:
            head += bytes([sequence & 0xff])
        self.packet(0, 1, head + payload)

    def update(self):
        now = time.monotonic()
        if self.state in ("token", "connect") and now > self.asked + 0.5:
            self.ask(TOKEN if self.state == "token" else CONNECT)
        for unacknowledged in self.unacknowledged:
            if now > unacknowledged[2] + 1:
                unacknowledged[2] = now
                self.chunk(VITAL | 2, unacknowledged[1], unacknowledged[0])
        if self.state == "online" and now > self.sent + 1:
            self.packet(CONTROL, 0, bytes([KEEP_ALIVE]))

    def close(self):
        if self.state == "online":
            self.packet(CONTROL, 0, bytes([CLOSE]))
        self.state = "closed"
        self.socket.close()

    def receive(self):
        """The messages that have come: whether it is of the system, its number, and a reader of it."""
        messages = []
        while self.state != "closed":
            try:
                packet = self.socket.recv(2048)
            except (BlockingIOError, ConnectionError):
                break
            if len(packet) >= 7:
                messages += self.read(packet)
        return messages

    def read(self, packet):
        flags, token = packet[0] >> 2, int.from_bytes(packet[3:7], "big")
        if flags & CONNLESS or token != self.token:
            return []
        data = packet[7:]
        if flags & CONTROL:
            self.control(data)
            return []
        if flags & COMPRESSED:
            data = decompress(data)
        acknowledged = (packet[0] & 3) << 8 | packet[1]
        behind = lambda sequence: (acknowledged - sequence) % MAX_SEQUENCE < MAX_SEQUENCE // 2
        self.unacknowledged = [entry for entry in self.unacknowledged if not behind(entry[0])]
        return list(self.chunks(data, packet[2]))

    def control(self, data):
        if data[0] == TOKEN and self.state == "token":
            self.peer = int.from_bytes(data[1:5], "big")
            self.state = "connect"
            self.ask(CONNECT)
        elif data[0] == ACCEPT and self.state == "connect":
            self.state = "online"
            self.send(1, 1, text(VERSION) + text("") + number(CLIENT_VERSION))
        elif data[0] == CLOSE:
            self.state = "closed"

    def chunks(self, data, count):
        at = 0
        for _ in range(count):
            if at + 2 > len(data):
                return
            flags, size = data[at] >> 6, (data[at] & 0x3f) << 6 | data[at + 1] & 0x3f
            sequence = (data[at + 1] & 0xc0) << 2
            at += 2
            if flags & VITAL:
                sequence |= data[at]
                at += 1
                if sequence != (self.ack + 1) % MAX_SEQUENCE:
                    at += size
                    continue  # an old one, or one that is sent again once this one is missed
                self.ack = sequence
            reader = Reader(data[at:at + size])
            at += size
            message = reader.number()
            yield message & 1, message >> 1, reader
