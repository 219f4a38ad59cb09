"""Draws the plots of docs/results.md from the tables of docs/internals/figures.md: python3 docs/images/plots.py"""
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIGURES = (HERE.parent / "internals" / "figures.md").read_text(encoding="utf-8")
COLOURS = ["#8a94a3", "#0b57a4", "#b3261e"]


def table(section, first):
    """The rows of the table whose head begins with `first`, in a section: each a list of cells."""
    text = FIGURES.split(f"\n{section}\n", 1)[1].split("\n## ", 1)[0]
    lines = text[text.index(f"|{first}|"):].splitlines()
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return [row for row in rows if not re.fullmatch(r"[-:]+", row[1])]


def number(cell):
    return float(re.match(r"[0-9.]+", cell).group())


def bars(name, title, unit, groups, legend):
    """Horizontal bars: `groups` has a label and a value for each entry of the legend."""
    high, gap, left, right = 18, 12, 210, 480
    largest = max(value for _, values in groups for value in values)
    parts, y = [], 64
    for label, values in groups:
        middle = y + high * len(values) / 2 + 4
        parts.append(f'<text x="{left - 8}" y="{middle:.0f}" text-anchor="end">{label}</text>')
        for at, value in enumerate(values):
            width = right * value / largest
            parts.append(f'<rect x="{left}" y="{y}" width="{width:.1f}" height="{high - 3}" fill="{COLOURS[at]}"/>')
            parts.append(f'<text x="{left + width + 6:.1f}" y="{y + 12}">{value:g}{unit}</text>')
            y += high
        y += gap
    key, x = [], 16
    for at, word in enumerate(legend):
        key.append(f'<rect x="{x}" y="36" width="12" height="12" fill="{COLOURS[at]}"/>')
        key.append(f'<text x="{x + 18}" y="46">{word}</text>')
        x += 40 + 7 * len(word)
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="780" height="{y}" font-family="sans-serif" font-size="13">',
        f'<rect width="780" height="{y}" fill="#ffffff"/>',
        f'<text x="16" y="22" font-size="15" font-weight="bold">{title}</text>',
        *key, *parts, "</svg>", "",
    ]
    (HERE / f"{name}.svg").write_text("\n".join(svg), encoding="utf-8")


rows = {row[0]: row for row in table("## OpenArena, end to end", " ")}
shares = [("ended 5:0", "5:0"), ("difference of 4 or more", "difference of 4 or more")]
bars("openarena", "One-sided matches of bots on OpenArena, 60 and 60", " %",
     [(label, [number(rows[row][1]), number(rows[row][2])]) for label, row in shares], ["random teams", "Evenkeel"])

lobbies = table("## Even teams of recorded lobbies", " history, lobbies ")
head = lobbies[0]
columns = [head.index(name) for name in ("random", "`chance`", "as played")]
whole = [row for row in lobbies[1:] if not row[0].startswith("–")]
bars("lobbies", "How far the chance of recorded lobbies is from one half, by an independent judge", "",
     [(row[0] + " lobbies", [number(row[column]) for column in columns]) for row in whole],
     ["random teams", "Evenkeel", "as people played"])

speed = table("## Speed: choosing teams", " players ")
wanted = speed[0].index("meet, limit")
bars("speed", "Time to find the best teams", " ms",
     [(f"{row[0]} players", [number(row[wanted])]) for row in speed[1:] if int(row[0]) >= 28], ["Evenkeel, one thread"])
