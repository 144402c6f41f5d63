"""All ways to pair rules of two rule sets, one by one, from nothing but their JSON.

It shares no code with `evaluation/rule_pairs.py`: a rule is what a reader of the published format
sees, and distances are computed from their definition in docs/diff.md.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations


def described(ruleset):
    """Return each rule as a list of conditions in words and numbers, by column."""
    content = json.loads(ruleset.to_json())
    features = {each["name"]: each for each in content["features"]}
    return [
        [_condition(each, features) for each in rule["conditions"]] for rule in content["rules"]
    ]


def _condition(condition, features):
    feature = features[condition["feature"]]
    name, kind, cuts = feature["name"], feature["kind"], feature["cuts"]
    if "levels" in condition:
        named = {str(level) if level is not None else None for level in condition["levels"]}
        return {"form": (name, kind, condition["inside"]), "levels": named}
    low, high, missing = condition["low"], condition["high"], condition["missing"]
    if high == 0:
        return {"form": (name, "only missing")}
    if low == 1 and high is None:
        return {"form": (name, "not missing")}
    found = {"form": (name, kind, low > 1, high is not None), "missing": missing, "cuts": cuts}
    last = len(cuts) + 1
    if kind == "ordered":
        ends = [-1.0, *cuts, float(len(feature["levels"]))]
        ranks = enumerate(feature["levels"])
        above, most = ends[low - 1], ends[high or last]
        found["levels"] = {str(level) for rank, level in ranks if above < rank <= most}
    else:
        found["bounds"] = [cuts[low - 2]] * (low > 1) + ([cuts[high - 1]] if high else [])
    return found


def form(rule):
    """Return the columns and directions of a rule."""
    return [condition["form"] for condition in rule]


def distance(one, other):
    """Return how far apart two rules of the same form are, as a fraction."""
    return sum((_apart(a, b) for a, b in zip(one, other, strict=True)), Fraction(0))


def _apart(a, b):
    total = Fraction(int(a.get("missing") != b.get("missing")))
    if "levels" in a:
        union = a["levels"] | b["levels"]
        return total + Fraction(len(a["levels"] ^ b["levels"]), max(1, len(union)))
    if "bounds" in a:
        cuts = sorted(set(a["cuts"]) | set(b["cuts"]))
        bounds = zip(a["bounds"], b["bounds"], strict=True)
        steps = sum(abs(cuts.index(x) - cuts.index(y)) for x, y in bounds)
        total += Fraction(steps, max(1, len(cuts) - 1))
    return total


def best_total(olds, news, allowed=lambda a, b: form(a) == form(b), cost=distance):
    """Return the largest number of pairs, and the least total cost of so many, of all pairings."""
    short, long, flipped = (olds, news, False) if len(olds) <= len(news) else (news, olds, True)
    best = (0, Fraction(0))
    padded = [*range(len(long)), *[None] * len(short)]
    for chosen in set(permutations(padded, len(short))):
        pairs = [(short[i], long[j]) for i, j in enumerate(chosen) if j is not None]
        if flipped:
            pairs = [(b, a) for a, b in pairs]
        if all(allowed(a, b) for a, b in pairs):
            total = sum((cost(a, b) for a, b in pairs), Fraction(0))
            best = min(best, (-len(pairs), total))
    return -best[0], best[1]
