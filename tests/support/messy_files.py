"""A folder of files as people have them: missing values, words, repeated patients, weights."""

import numpy as np
import pandas as pd

N_PATIENTS = 60


def messy_table():
    """Return visits of patients: a number, two classes and three to predict, some values missing.

    Patients differ by much more than their visits do.
    """
    rng = np.random.default_rng(7)
    patients = np.repeat(np.arange(N_PATIENTS), rng.integers(2, 7, N_PATIENTS))
    n = len(patients)
    age, bmi = rng.integers(20, 90, n).astype(float), rng.normal(27, 5, n).round(1)
    sex, site = rng.choice(["female", "male"], n), rng.choice(["north", "east, upper"], n)
    own = rng.normal(0, 4, N_PATIENTS)[patients]
    score = 20 + 8 * (age > 60) + 6 * (bmi > 30) + 4 * (sex == "male") + own + rng.normal(0, 3, n)
    table = pd.DataFrame({
        "patient": [f"P{i:03d}" for i in patients],
        "age": age,
        "bmi": np.where(rng.random(n) < 0.1, np.nan, bmi),
        "sex": np.where(rng.random(n) < 0.05, None, sex),
        "site": site,
        "weight": rng.integers(1, 4, n).astype(float),
        "score": score.round(2),
        "ill": np.where(score + rng.normal(0, 4, n) > 30, "yes", "no"),
        "stage": np.select([score < 24, score < 31], ["I", "II"], "III"),
    })  # fmt: skip
    table.loc[0, "weight"] = 0.0
    return table


def write_messy(folder):
    """Write the table in several forms, and tables that each have one mistake."""
    table, half = messy_table(), N_PATIENTS * 2
    table.to_csv(folder / "visits.csv", index=False)
    table.to_parquet(folder / "visits.parquet")
    table[:half].to_csv(folder / "part1.csv", index=False)
    table[half:].to_csv(folder / "part2.csv", index=False)
    mistakes = {
        "negative": {"weight": (3, -1.0)},
        "unweighted": {"weight": (3, np.nan)},
        "nobody": {"patient": (3, None)},
    }
    for name, changes in mistakes.items():
        wrong = table.copy()
        for column, (row, value) in changes.items():
            wrong.loc[row, column] = value
        wrong.to_csv(folder / f"{name}.csv", index=False)
    table.assign(weight="two").to_csv(folder / "word.csv", index=False)
    table.assign(weight=0).to_csv(folder / "nothing.csv", index=False)
    table.assign(patient="P1").to_csv(folder / "alone.csv", index=False)
    return table
