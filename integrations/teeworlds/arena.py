"""Makes a map for Teeworlds: a flat arena with a flag at each end. The form is that of data files of version 4."""

import struct
import zlib
from pathlib import Path

WIDTH, HEIGHT, FLOOR = 60, 14, 11
SOLID = 1
# The game's entities, and where they are: the column, one row above the floor.
ENTITY, SPAWN_RED, SPAWN_BLUE, FLAG_RED, FLAG_BLUE = 255 - 16 * 4, 2, 3, 4, 5
THINGS = {FLAG_RED: [8], FLAG_BLUE: [51], SPAWN_RED: [4, 5, 6, 10, 12, 14], SPAWN_BLUE: [45, 47, 49, 53, 54, 55]}
# Where the flags stand, in the units of positions.
STANDS = [(THINGS[flag][0] * 32 + 16, (FLOOR - 1) * 32 + 16) for flag in (FLAG_RED, FLAG_BLUE)]


def tiles():
    """The game layer: 4 bytes for each tile, of which the first is what it is."""
    rows = [[SOLID if y in (0, 1) or y >= FLOOR or x < 2 or x >= WIDTH - 2 else 0 for x in range(WIDTH)]
            for y in range(HEIGHT)]
    for thing, columns in THINGS.items():
        for x in columns:
            rows[FLOOR - 1][x] = ENTITY + thing
    return b"".join(bytes([tile, 0, 0, 0]) for row in rows for tile in row)


def words(*numbers):
    return struct.pack(f"<{len(numbers)}i", *numbers)


def name(letters):
    """A short name: three numbers, each of four bytes that are moved by 128."""
    moved = bytes((byte + 128) & 0xff for byte in letters.encode().ljust(11, b"\0")) + b"\0"
    return words(*struct.unpack(">3i", moved))


def make(path):
    """Writes the map."""
    layer = words(0, 2, 0) + words(4, WIDTH, HEIGHT, 1, 255, 255, 255, 255, -1, 0, -1, 0) + name("Game")
    items = [
        (0, words(1)),
        (1, words(1, -1, -1, -1, -1)),
        (4, words(3, 0, 0, 100, 100, 0, 1, 0, 0, 0, 0, 0) + name("Game")),
        (5, layer),
    ]
    data = tiles()
    packed = zlib.compress(data)
    types = b"".join(words(kind, start, 1) for start, (kind, _) in enumerate(items))
    bodies = [words(kind << 16, len(body)) + body for kind, body in items]
    starts = [sum(map(len, bodies[:at])) for at in range(len(bodies))]
    offsets = words(*starts, 0, len(data))
    body = b"".join(bodies)
    swapped = 36 + len(types) + len(offsets) + len(body)
    head = b"DATA" + words(4, swapped + len(packed) - 16, swapped - 16, len(items), len(items), 1, len(body), len(packed))
    Path(path).write_bytes(head + types + offsets + body + packed)
