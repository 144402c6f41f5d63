"""Default values of parameters that several functions and classes share, each with its reason.

Constructors and commands write them into their signatures, so `help` shows the values themselves.
To change a default, change it here and in the docstrings that name its value.
"""

from typing import Final, Literal

# --- candidate rules --------------------------------------------------------------------------
#
# N_TREES, N_BINS, MAX_FEATURES and STABILITY were chosen together, inside training folds of the
# paper's thirty tables. docs/estimator.md, "What the defaults rest on", has the measurements;
# `mossrules reproduce beyond` makes such a choice again.

# 2000 trees have .01 to .03 more Dice than 500 at the same R2.
N_TREES: Final = 2000

# As in the paper: a rule has two conditions at most.
MAX_DEPTH: Final = 2

# With fewer bins rules recur more often, but from 7 bins down that costs R2.
N_BINS: Final = 8

# Where columns are cut that are given no cut points: at quantiles, as in the paper, or at round
# numbers, which recur (docs/cuts.md).
CUTS: Final = "quantile"

# The paper's trees look at a third of the columns at each split. Half of them have .03 more Dice at
# the same R2; all columns are too many, with .02 less R2.
MAX_FEATURES: Final = 0.5

# Whether inner nodes of trees, rules of fewer conditions, are candidates too.
INNER_NODES: Final = False

# A condition that keeps more than this share of the rows on which the rest of its rule holds is
# dropped; None keeps rules as the trees have them, as in the paper.
MAX_OVERLAP: Final[float | None] = None

# Share of the rows that a rule must hold on, and leave out; share of the trees it must be in.
MIN_COVERAGE: Final[float] = 0
MIN_TREE_FREQUENCY: Final[float] = 0

# "forest" draws by what rows and columns hold: no order, sign or unit changes the rules.
# "paper-forest" draws as the first release did, by the target first and by the places of columns.
GENERATOR: Final = "paper-forest"

# Time and memory of the statistics grow with the square of the number of candidates.
MAX_CANDIDATES: Final = 2000

# --- the choice of rules ----------------------------------------------------------------------

# The figures of docs/results.md are for 15 rules, as in the paper.
MAX_RULES: Final = 15

# A share of the largest stability that so many rules can have.
STABILITY: Final = 0.8

# How weights are treated in the choice and after it; these values are the paper's.
DIRECTIONS: Final = "free"
SHRINKAGE: Final = "equal"
INTERCEPT: Final = "refitted"
MIN_IMPORTANCE: Final[float] = 0
REFIT_RIDGE: Final[float | Literal["auto"] | None] = None

# The authors stop at 5 %. The 180 problems of the timing experiment take 3.5 s of CPU at most to
# 0.1 % (docs/results.md), so the limit, in seconds, is for those that are harder by far.
GAP: Final = 1e-3
TIME_LIMIT: Final = 60.0

# --- the trade-off ----------------------------------------------------------------------------

# A frontier proves so many choices, and at low stability hard ones: a gap ten times as wide as for
# a single choice keeps it to seconds (docs/estimator.md, "How large is gamma").
FRONTIER_POINTS: Final = 50
FRONTIER_GAP: Final = 0.01

# --- recurrence -------------------------------------------------------------------------------

# When two rules are the same: where they read the same. A person compares what is printed, and by
# bins "age > 40" is found again although it now says "age > 52". The paper counts by bins.
IDENTITY: Final = "thresholds"

# --- cross-validation -------------------------------------------------------------------------

# Ten folds where the estimate is what is asked for; five, for half the time, where it serves to
# choose a stability target or is a part of a report.
FOLDS: Final = 10
FOLDS_OF_A_CHOICE: Final = 5
