"""Whether a proof is of a problem at hand: by what its file states, and by the hashes of arrays."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.proofs import checking
from mossrules.solver.proofs.checking import Proof
from mossrules.solver.proofs.reading import ProofRefused
from mossrules.solver.proofs.writing import problem_arrays, problem_header, refuse_unprovable

__all__ = ["check_proof"]


def check_proof(
    path: str | Path, problem: SelectionProblem | None = None, *, exact: bool = False
) -> Proof:
    """Check a proof from a file, without the solver; see :doc:`proofs`.

    Parameters
    ----------
    path
        The file.
    problem
        The problem that the proof has to be of, at any floor. Without it, the problem is whatever
        the file states.
    exact
        Whether to compute in rational numbers. By default it is done in floats, and what rounding
        may have added to a bound is subtracted.

    Raises
    ------
    ProofRefused
        Unless all that the file claims is proven; the message names the record at fault.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mossrules import MossRegressor
    >>> X = {"age": [30, 40, 50, 60, 70, 80]}
    >>> model = MossRegressor(2, n_trees=20).fit(X, [2.0, 3.0, 9.0, 8.0, 4.0, 5.0])
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "proof.gz"
    ...     solution = model.solution_.proof(file)
    ...     proof = check_proof(file, model.problem_)
    >>> proof.claims[0].bound == solution.bound
    True
    """
    proof = checking.check_proof(path, exact=exact)
    if problem is not None:
        _refuse_other(proof, problem)
    return proof


def _refuse_other(proof: Proof, problem: SelectionProblem) -> None:
    """Refuse a proof that is of another problem, and say what differs."""
    refuse_unprovable(problem)
    kept = np.array(proof.kept, dtype=np.int64)
    if kept.max(initial=0) < problem.m:
        expected = problem_header(problem, kept)
        arrays = problem_arrays(problem, kept)
        stated = [name for name in expected if expected[name] != proof.header.get(name)]
        stated += [
            name
            for name, values in arrays.items()
            if hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()
            != proof.header["hashes"][name]
        ]
    else:
        stated = ["rules"]
    if stated:
        raise ProofRefused(
            f"The proof is of another problem: {', '.join(stated)} differ from those of this one."
        )
