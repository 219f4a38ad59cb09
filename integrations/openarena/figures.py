"""Figures of two seasons, with 95 % intervals."""

import math
import random

RESAMPLES = 10_000


def mean(values):
    return sum(values) / len(values)


def bootstrap(values, statistic=mean):
    """The percentile interval; the same one every time."""
    rng = random.Random(1)
    found = sorted(statistic(rng.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return found[int(0.025 * RESAMPLES)], found[int(0.975 * RESAMPLES) - 1]


def wilson(count, n):
    """Wilson's interval of a share."""
    z, p = 1.959964, count / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return middle - half, middle + half


def ranks(values):
    below = lambda v: sum(w < v for w in values)
    return [below(v) + (values.count(v) + 1) / 2 for v in values]


def spearman(a, b):
    a, b = ranks(a), ranks(b)
    ma, mb = mean(a), mean(b)
    both = sum((x - ma) * (y - mb) for x, y in zip(a, b))
    spread = sum((x - ma) ** 2 for x in a) * sum((y - mb) ** 2 for y in b)
    return both / math.sqrt(spread) if spread else 0.0


def fisher(r, n):
    """Fisher's interval of a rank correlation, with the variance of Bonett and Wright (2000)."""
    r = max(-0.999999, min(0.999999, r))
    half = 1.959964 * math.sqrt((1 + r * r / 2) / (n - 3))
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def gap(game):
    return abs(game["score"][0] - game["score"][1])


def is_shutout(game):
    return sorted(game["score"]) == [0, 5]


def table(arms, correlations):
    """Rows of figures, a column for each arm: {title: games}, {title: (r, n)}."""
    def share(games, what):
        count = sum(map(what, games))
        low, high = wilson(count, len(games))
        return f"{100 * count / len(games):.0f} % ({100 * low:.0f} to {100 * high:.0f})"

    def gaps(games):
        low, high = bootstrap([gap(game) for game in games])
        return f"{mean([gap(game) for game in games]):.2f} ({low:.2f} to {high:.2f})"

    def skill(title):
        if title not in correlations:
            return "-"
        r, n = correlations[title]
        low, high = fisher(r, n)
        return f"{r:.2f} ({low:.2f} to {high:.2f})"

    rows = [
        ("", list(arms)),
        ("games", [str(len(games)) for games in arms.values()]),
        ("mean capture difference", [gaps(games) for games in arms.values()]),
        ("5:0", [share(games, is_shutout) for games in arms.values()]),
        ("difference of 4 or more", [share(games, lambda game: gap(game) >= 4) for games in arms.values()]),
        ("Spearman, weights and true skill, afterwards", [skill(title) for title in arms]),
    ]
    lines = [f"| {name} | {' | '.join(cells)} |" for name, cells in rows]
    lines.insert(1, "| --- |" + " ---: |" * len(arms))
    return "\n".join(lines)


def paired(first, second):
    """The mean capture difference of the same lineups in two arms, second less first."""
    of = {game["match"]: gap(game) for game in first}
    pairs = [gap(game) - of[game["match"]] for game in second if game["match"] in of]
    if not pairs:
        return "no lineup was played in both arms"
    low, high = bootstrap(pairs)
    return f"{mean(pairs):+.2f} ({low:+.2f} to {high:+.2f}) over {len(pairs)} pairs of games with the same lineup"
