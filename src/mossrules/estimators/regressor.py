"""`MossRegressor`: a short, stable rule set for a numeric target, as a scikit-learn estimator."""

from __future__ import annotations

from mossrules.estimators.base import RuleRegressor
from mossrules.estimators.moss import MossEstimator
from mossrules.learning.squared_error import SquaredError
from mossrules.solver import Problem

__all__ = ["MossRegressor"]


class MossRegressor(MossEstimator, RuleRegressor):
    """A few if-then rules that predict well and come out the same when the data are perturbed.

    A forest of shallow trees proposes rules; the share of trees that contain a rule is its
    stability. Of all selections of at most `max_rules` rules that are stable enough, `fit` finds
    the one that fits best, and proves it.

    Numbers, booleans, strings and categories are used as they are, and values may be missing. The
    same rows, in any order, and the same `random_state` give the same rules, bit for bit.

    Parameters
    ----------
    max_rules : int, default=15
        Most rules in the model.
    stability : {"high", "medium", "low", "auto"} or float in (0, 1], default=0.8
        How stable the selection has to be: a share of the largest stability that `max_rules` rules
        can have, or the 3rd ("high") or the 40th ("medium") floor of the paper's sequence. "low"
        sets no floor and uses the paper's approximate algorithm. "auto" cross-validates the shares
        1, 0.95, ..., 0.5 and takes the most stable one whose mean R2 is within one standard error
        of the best.
    cv : int, splitter of scikit-learn, or pairs of training and test rows, default=5
        Folds of "auto", as in `evaluate_frontier`; there are fewer where they would have fewer than
        two rows each. For groups, pass pairs.
    ties : {"keep", "drop"}, default="keep"
        "drop" lowers `max_rules` where its last rule ties in count with the next, to leave out all
        that tie, as the paper's authors do.
    gamma : float or "auto", default="auto"
        Weights are shrunk less the larger it is; "auto" is 30 over the number of rows.
    n_trees, max_depth, n_bins, max_features
        The forest: trees, their depth (1 to 6), bins of a numeric column, and share of the columns
        that each split looks at. The paper has 500 trees, 10 bins and a third of the columns; what
        the defaults rest on is in docs/estimator.md.
    inner_nodes : bool, default=False
        Whether the inner nodes of trees are candidates too: rules with fewer conditions, which
        come out again more often.
    generator : "forest", "noisy-target", or a fitted ensemble, default="forest"
        Where rules come from; see `find_candidates`. Wrap an ensemble of scikit-learn in
        `FittedEnsemble` for cross-validation, which would clone, and so empty, a bare one.
    solver : {"auto", "branch-and-bound", "cutting-plane", "coordinate-descent"}, default="auto"
        How to choose; see `mossrules.solver.solve`.
    gap : float, default=1e-3
        Largest relative distance from the optimum.
    time_limit : float or None, default=60.0
        Seconds for choosing; a fit that needs more warns with `SolveLimitWarning`. "auto" has as
        many again for all of its folds.
    refit : bool, default=True
        Whether weights and intercept are fitted anew to the chosen rules, without the shrinking
        that `gamma` makes.
    constraints : list of constraints, optional
        What the rule set has to keep to: features never to use, rules that must or must not be in
        it, so many rules per feature or features in all, features that may only push one way; see
        `mossrules.constraints`. Stability is then a share of what can be had under them, and "low"
        is solved exactly where the approximate algorithm cannot keep to them.
    random_state : int, NumPy generator or None, default=None
        Seed of the forest; None is the seed 0.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The result does not depend on it.
    verbose : int, default=0
        1 reports each step, 2 also where the search stands.

    Attributes
    ----------
    rules_ : RuleSet
        The model: rules, weights and intercept, to read, explain and export.
    solution_ : Solution
        The selection with its certificate.
    problem_ : Problem or None
        What it solves, for `solution_.verify(problem_)`; None where there are no candidates.
    candidates_ : Candidates
        The rules to choose from, and their statistics.
    pool_ : CandidatePool
        The same rules with the trees that contain each.
    evaluation_ : FrontierEvaluation
        With "auto", what cross-validation has found at each share; not there where there are no
        candidates.
    frontier_ : Frontier
        What stability costs: `frontier()`, computed when first asked for.
    feature_importances_ : array of shape (n_features,)
        Share of each column in what the rules move; see `RuleSet.feature_importances`.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Their names, if X has names of text.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = MossRegressor(max_rules=5, random_state=0).fit(X, y)
    >>> len(model.rules_), model.solution_.status.value
    (5, 'optimal')
    >>> looser = model.select(stability=0.5)  # the same candidates, another choice
    >>> looser.score(X, y) > model.score(X, y)
    True
    """

    problem_: Problem | None

    def _objective(self) -> SquaredError:
        return SquaredError()
