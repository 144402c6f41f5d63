"""Default values of parameters that several functions and classes share, each with its reason.

Constructors and commands write them into their signatures, so `help` shows the values themselves.
To change a default, change it here and in the docstrings that name its value.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

# --- candidate rules of MOSS --------------------------------------------------------------------
#
# Those of this and the next part were chosen together, inside training folds of the paper's tables.
# docs/estimator.md, "What the defaults rest on", has the measurements.

# As many as another seed needs to find nearly the same rules: 500 to 8,000.
N_TREES: Final[int | Literal["auto"]] = "auto"

# As in the paper: a rule has two conditions at most. With three, R2 and recurrence are lower.
MAX_DEPTH: Final = 2

# With fewer bins rules recur more often: 6 have .03 more Dice than 8, and .02 less R2.
N_BINS: Final = 8

# Round numbers recur, where quantiles move with every sample (docs/cuts.md).
CUTS: Final = "round"

# As in the paper. Half of the columns have .01 less R2 at the same recurrence.
MAX_FEATURES: Final = 1 / 3

# Rules of one condition are candidates too: shorter, and found again more often.
INNER_NODES: Final = True

# A condition that keeps more than this share of the rows on which the rest of its rule holds is
# dropped. Dice grows as the share falls, and from .5 down R2 falls too.
MAX_OVERLAP: Final[float | None] = 0.6

# A hundredth of the rows, and five of them, must a rule hold on, and leave out: from .05 up that
# costs R2. No rule has to be in more trees than the stability target says.
MIN_COVERAGE: Final[float | Literal["auto"]] = "auto"
MIN_TREE_FREQUENCY: Final[float] = 0

# "forest" draws by what rows and columns hold: no order, sign or unit changes the rules.
# "paper-forest" draws as the first release did, by the target first and by the places of columns.
GENERATOR: Final = "forest"

# Time and memory of the statistics grow with the square of the number of candidates.
MAX_CANDIDATES: Final = 2000

# --- the choice of MOSS ---------------------------------------------------------------------------

# The figures of docs/results.md are for 15 rules, as in the paper.
MAX_RULES: Final = 15

# A share of the largest stability score that as many rules can have: with a floor on each rule, of
# the tree count of the 15th most frequent rule, which leaves some 60 to 300 candidates. Of the
# sum it would ask for next to nothing: there the default is the paper's "high".
FLOOR: Final = "each"
STABILITY: Final = 0.1

# Weights that mean something: of the direction of the rule's own rows, beside the best intercept,
# and none of rules that hardly count. Shrinkage by tree frequency has .08 to .14 more Dice than
# equal shrinkage at the same R2.
DIRECTIONS: Final = "own"
SHRINKAGE: Final = "frequency"
INTERCEPT: Final = "chosen"
MIN_IMPORTANCE: Final[float] = 0.01
REFIT_RIDGE: Final[float | Literal["auto"] | None] = "auto"

# The authors stop at 5 %. The 180 problems of the timing experiment take 3.5 s of CPU at most to
# 0.1 % (docs/results.md), so the limit, in seconds, is for those that are harder by far.
GAP: Final = 1e-3
TIME_LIMIT: Final = 60.0

# --- the trade-off ----------------------------------------------------------------------------

# A frontier proves so many choices, and at low stability hard ones: a gap ten times as wide as for
# a single choice keeps it to seconds (docs/estimator.md, "How large is gamma").
FRONTIER_POINTS: Final = 50
FRONTIER_GAP: Final = 0.01

# Of searches on folds, whose rule sets are measured and not shown: what is estimated of a point
# changes by far less than it differs between folds, and most roots prove as much
# (docs/choosing.md). The model itself is proven to its own gap.
FOLD_GAP: Final = 0.05

# Of a report, in all. Repetitions and proofs for which there is no time are left out, and the page
# says which.
REPORT_SECONDS: Final = 60.0

# --- staying near an approved rule set ------------------------------------------------------------

# Of the approved rules, where `near` is given without a share: one rule in five may make room.
KEPT_SHARE: Final = 0.8

# --- recurrence -------------------------------------------------------------------------------

# When two rules are the same: where they read the same. A person compares what is printed, and by
# bins "age > 40" is found again although it now says "age > 52". The paper counts by bins.
IDENTITY: Final = "thresholds"

# --- classes --------------------------------------------------------------------------------------

# Training rows of the rarer class for each rule, below which models warn (docs/classification.md).
MIN_EVENTS_PER_RULE: Final = 10

# --- cross-validation -------------------------------------------------------------------------

# Ten folds where the estimate is what is asked for; five, for half the time, where it serves to
# choose a stability target or is a part of a report.
FOLDS: Final = 10
FOLDS_OF_A_CHOICE: Final = 5

# --- baselines, and candidates without an estimator -----------------------------------------------

# What `find_candidates` and the baselines look for: rules as trees have them, cut at quantiles.
PLAIN_TREES: Final = 2000
PLAIN_BINS: Final = 8
PLAIN_CUTS: Final = "quantile"
PLAIN_MAX_FEATURES: Final = 0.5

# --- what is passed on ----------------------------------------------------------------------------

# A value that fewer rows have than this may tell who they are, so models as they are kept and pages
# have none, but in rules that name it. Offices of statistics use thresholds from 3 to 10 for cells.
MIN_ROWS_SHOWN: Final = 10
# A mean of fewer rows than this may tell the value of one; it is withheld.
MIN_ROWS_OF_MEAN: Final = 5

# --- the paper ------------------------------------------------------------------------------------

# Parameters of `MossRegressor` and `MossClassifier` with which they do what the paper does: first
# what has no number, which is `--paper` of the command line.
PAPER_WAY: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "floor": "sum",
        "directions": "free",
        "shrinkage": "equal",
        "intercept": "refitted",
        "cuts": "quantile",
        "inner_nodes": False,
        "max_overlap": None,
        "min_coverage": 0,
        "min_tree_frequency": 0,
        "generator": "paper-forest",
        "refit_ridge": None,
        "min_importance": 0,
    }
)
PAPER: Final[Mapping[str, Any]] = MappingProxyType(
    {
        **PAPER_WAY,
        "stability": "high",
        "ties": "drop",
        "n_trees": 500,
        "max_depth": 2,
        "n_bins": 10,
        "max_features": 1 / 3,
    }
)
