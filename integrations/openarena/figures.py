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
    return max(0.0, middle - half), middle + half


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


def of_mean(values):
    low, high = bootstrap(values)
    return f"{mean(values):.2f} ({low:.2f} to {high:.2f})"


def of_share(games, what):
    """How many of the games are such."""
    count = sum(map(what, games))
    low, high = wilson(count, len(games))
    return f"{100 * count / len(games):.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def of_correlation(r, n):
    low, high = fisher(r, n)
    return f"{r:.2f} ({low:.2f} to {high:.2f})"


def rows(named):
    """A table: the name and the cells of each row, the first of which has the titles."""
    lines = [f"| {name} | {' | '.join(cells)} |" for name, cells in named]
    lines.insert(1, "| --- |" + " ---: |" * len(named[0][1]))
    return "\n".join(lines)


def table(arms, correlations):
    """Figures of OpenArena's seasons, a column for each: {title: games}, {title: (r, n)}."""
    played = arms.values()
    return rows([
        ("", list(arms)),
        ("games", [str(len(games)) for games in played]),
        ("mean capture difference", [of_mean(list(map(gap, games))) for games in played]),
        ("5:0", [of_share(games, is_shutout) for games in played]),
        ("difference of 4 or more", [of_share(games, lambda game: gap(game) >= 4) for games in played]),
        ("Spearman, weights and true skill, afterwards",
         [of_correlation(*correlations[title]) if title in correlations else "-" for title in arms]),
    ])


def paired(first, second):
    """The mean difference of the same lineups in two seasons, second less first."""
    of = {game["match"]: gap(game) for game in first}
    pairs = [gap(game) - of[game["match"]] for game in second if game["match"] in of]
    if not pairs:
        return "no lineup was played in both arms"
    low, high = bootstrap(pairs)
    return f"{mean(pairs):+.2f} ({low:+.2f} to {high:+.2f}) over {len(pairs)} pairs of games with the same lineup"
