"""Track records by hand: refits one by one, and what they say, by text, pandas and scikit-learn."""

import re

import numpy as np
import pandas as pd
from scipy.stats import norm, t
from scipy.stats.mstats import mquantiles
from sklearn.base import clone, is_classifier
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.sandwich_covariance import S_crosssection, S_white_simple

from mossrules import MossClassifier, MossRegressor
from mossrules.candidates.search import numbering_of
from mossrules.data.rows import read_rows
from mossrules.evaluation.refits import SHARE, refit_splits

N = 150
SIZES = ["s", "m", "l"]
SAME_ROWS = 0.9


def table(n=N, seed=0):
    """Return numbers with gaps, words, truth values and an order, and a target of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n).astype(float),
            "dose": rng.normal(size=n).round(1),
            "word": rng.choice(["red", "green", "blue", "grey"], n).astype(object),
            "flag": rng.random(n) < 0.5,
            "size": pd.Categorical(rng.choice(SIZES, n), SIZES, ordered=True),
        }
    )
    X.loc[::9, "age"] = np.nan
    X.loc[4::11, "word"] = None
    y = 2.0 * (X["age"] > 50) + 1.5 * (X["word"] == "red") + 2.0 * X["flag"] * (X["dose"] > 0)
    return X, (y + rng.normal(size=n)).rename("score")


def labels(y, n=2):
    """Return the target as two or three classes, in words."""
    if n == 2:
        return np.where(y > y.quantile(0.4), "no", "yes")
    return np.where(y > y.quantile(0.7), "high", np.where(y < y.quantile(0.3), "low", "mid"))


def regressor(**parameters):
    """Return a quick regressor."""
    return MossRegressor(**{"max_rules": 5, "n_trees": 40, "n_jobs": 1, **parameters})


def classifier(**parameters):
    """Return a quick classifier."""
    return MossClassifier(**{"max_rules": 3, "n_trees": 24, "n_jobs": 1, "gap": 0.2, **parameters})


# --- rules by their text --------------------------------------------------------------------------


def holds(text, X):
    """Return where a rule holds, from the words that people read."""
    where = np.ones(len(X), dtype=bool)
    for condition in text.split(" and "):
        inner = condition.strip("()")
        part, *missing = inner.split(" or ") if inner.endswith("is missing") else (inner,)
        found = _holds_condition(part, X)
        where &= found | _holds_condition(missing[0], X) if missing else found
    return where


def _holds_condition(text, X):
    if found := re.fullmatch(r"(\w+) is (not )?missing", text):
        return (X[found[1]].isna() != bool(found[2])).to_numpy()
    if found := re.fullmatch(r"(\w+) is (true|false)", text):
        return (X[found[1]] == (found[2] == "true")).to_numpy()
    if found := re.fullmatch(r"(\w+) is (not )?(.+)", text):
        levels = [None if each == "missing" else each for each in re.split(", | or ", found[3])]
        return (X[found[1]].isin(levels) != bool(found[2])).to_numpy()
    if found := re.fullmatch(r"(\S+) < (\w+) <= (\S+)", text):
        return ((X[found[2]] > float(found[1])) & (X[found[2]] <= float(found[3]))).to_numpy()
    name, sign, cut = re.fullmatch(r"(\w+) (>|<=) (\S+)", text).groups()
    if cut in SIZES:
        order = X[name].cat.codes.to_numpy()
        return order > SIZES.index(cut) if sign == ">" else order <= SIZES.index(cut)
    return (X[name] > float(cut)).to_numpy() if sign == ">" else (X[name] <= float(cut)).to_numpy()


def same_form(one, other):
    """Tell whether two rules differ in cut points and missing values alone, or share levels."""
    ours, theirs = (text.split(" and ") for text in (one, other))
    return len(ours) == len(theirs) and all(map(_alike, ours, theirs))


def _alike(one, other):
    a, b = (_outline(condition) for condition in (one, other))
    return a[0] == b[0] and (not a[1] or bool(a[1] & b[1]))


def _outline(condition):
    """Return a condition without cut points and missing values, and the levels that it names."""
    part = re.sub(r" or \w+ is missing\)$", "", condition.strip("(")).strip("()")
    if found := re.fullmatch(r"word is (not )?(.+)", part):
        return ("word", found[1]), set(re.split(", | or ", found[2]))
    if found := re.fullmatch(r"\S+ < (\w+) <= \S+", part):
        return (found[1], "between"), set()
    return re.sub(r"(>|<=) \S+", r"\1", part), set()


# --- refits by hand -------------------------------------------------------------------------------


def parts_of(model, X, y, refits, *, weights=None, groups=None, scheme="subsample", **how):
    """Return the rows of each refit, as positions in the table as it was given."""
    rows = read_rows(
        X,
        y,
        weights,
        groups,
        of_classes=is_classifier(model),
        class_weight=getattr(model, "class_weight", None),
        numbering=numbering_of(model.generator),
    )
    splits = refit_splits(
        rows, refits, scheme, None, how.get("seed", 0), stratify=is_classifier(model),
        share=how.get("share", SHARE),
    )  # fmt: skip
    return [rows.origin[train] for train, _ in splits]


def repeats(weights):
    """Tell whether weights are repetitions of rows."""
    return weights is not None and (weights == np.round(weights)).all()


def fits_of(model, X, y, parts, *, weights=None, groups=None, seed=0):
    """Return the models fitted to the rows of each refit, one by one."""
    y = pd.Series(np.asarray(y))
    members = getattr(model, "estimators_", None) or {None: model}
    chosen = {label: each.fitted_.settings.stability for label, each in members.items()}
    fitted = []
    for number, part in enumerate(parts):
        own = clone(model).set_params(random_state=seed + 1 + number)
        own.set_params(stability=next(iter(chosen.values())))
        if None not in chosen:
            own.set_stabilities(chosen)
        how = {} if groups is None else {"groups": np.asarray(groups)[part]}
        if weights is not None and not repeats(weights):
            how["sample_weight"] = weights[part]
        fitted.append(own.fit(X.iloc[part].reset_index(drop=True), y.iloc[part].to_numpy(), **how))
    return fitted


def rule_set(model, label=None):
    """Return the rule set of a model, or that of one of several classes."""
    return model.rules_ if label is None else model.rules_[label]


# --- what they say --------------------------------------------------------------------------------


def interval(values, confidence, stretch=1.0, centre=None):
    """Return percentiles, or of fewer than 40 the range of a normal distribution, stretched."""
    values = np.asarray(values)[~np.isnan(values)]
    if len(values) < 2:
        return np.nan, np.nan
    ends = (1 - confidence) / 2, (1 + confidence) / 2
    if len(values) >= 40:
        low, high = mquantiles(values, ends, alphap=3 / 8, betap=3 / 8)
    else:
        low, high = norm.ppf(ends, values.mean(), values.std(ddof=1))
    middle = values.mean() if centre is None else centre
    return tuple(middle + stretch * (each - values.mean()) for each in (low, high))


def held_fixed(rules, X, y, predicted, left_out, *, w, groups=None, confidence=0.95):
    """Return intervals of intercept and effects: statsmodels' sandwiches of left-out residuals.

    `predicted` by each refit, and the rows that it left out; all rows have some weight.
    """
    M = np.column_stack([np.ones(len(y)), *(holds(text, X) for text in rules.texts)]).astype(float)
    without = np.where(left_out, predicted, np.nan)
    known = ~np.isnan(without).all(axis=0)
    M, w, y, p = M[known], w[known], y[known], rules.predict(X)[known]
    curvature = w * p * (1 - p) if rules.link == "logit" else w
    scores = M * (w * (y - np.nanmean(without[:, known], axis=0)))[:, None]
    # A row that no refit left out is like the others: there are just fewer of them.
    many = len(known) / known.sum()
    if groups is None:
        meat, degrees = S_white_simple(scores), len(known) - M.shape[1]
    else:
        codes = np.unique(np.asarray(groups)[known], return_inverse=True)[1]
        meat, degrees = S_crosssection(scores, codes), len(set(codes)) - 1
    bread = np.linalg.inv(M.T @ (M * curvature[:, None]))
    errors = np.sqrt(np.diag(bread @ meat @ bread) / many)
    own = np.array([rules.intercept, *rules.weights])
    half = t.ppf((1 + confidence) / 2, degrees) * errors
    return np.column_stack([own - half, own + half])


def is_near(text, own, others, where, w):
    """Tell whether some rule of a refit is this one, or near it and none that the model has too."""
    if text in others:
        return True
    here = where[text]
    for other in set(others) - set(own):
        there = where[other]
        if same_form(text, other):
            return True
        for side in (there, ~there):
            either = w[here | side].sum()
            if either and w[here & side].sum() >= SAME_ROWS * either * (1 - 1e-12):
                return True
    return False


def importances(rules):
    """Return the share of each rule in the effects, by its text."""
    sizes = np.abs(rules.weights) * np.sqrt(rules.support * (1 - rules.support))
    return dict(zip(rules.texts, sizes / sizes.sum() if len(sizes) else sizes, strict=True))


def expected_rules(model, X, fitted, w, *, label=None, confidence=0.95, stretch=1.0):
    """Return for each rule what refits say of it, but for its effects held fixed."""
    own, refits = rule_set(model, label), [rule_set(each, label) for each in fitted]
    where = {text: holds(text, X) for each in (own, *refits) for text in each.texts}
    rows = []
    for text, effect in zip(own.texts, own.weights, strict=True):
        found = [
            dict(zip(r.texts, r.weights, strict=True))[text] for r in refits if text in r.texts
        ]
        wilson = proportion_confint(len(found), len(refits), 1 - confidence, method="wilson")
        rows.append(
            {
                "rule": text,
                "found": len(found),
                "near": sum(is_near(text, own.texts, r.texts, where, w) for r in refits),
                "found_interval": wilson,
                "effect": effect,
                "whole_analysis": interval(found, confidence, stretch),
                "same_sign": np.mean(np.array(found) * effect > 0) if found else np.nan,
            }
        )
    return rows


def expected_whole(model, fitted, *, label=None, confidence=0.95):
    """Return the mean Dice and weighted overlap over refits, each with its range."""
    own, refits = rule_set(model, label), [rule_set(each, label) for each in fitted]
    ours, shares = set(own.texts), importances(own)
    dice, overlap = [], []
    for each in refits:
        common = ours & set(each.texts)
        theirs = importances(each)
        size = len(ours) + len(each)
        dice.append(2 * len(common) / size if size else 1.0)
        both = sum(min(shares[text], theirs[text]) for text in common)
        overlap.append(both if size else 1.0)
    ends = 100 * (1 - confidence) / 2, 100 * (1 + confidence) / 2
    return [(np.mean(each), *np.percentile(each, ends)) for each in (dice, overlap)]
