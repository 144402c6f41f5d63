"""Bounds of a loss: of any weights w, H2(z) >= constant - gains'z for all z; see docs/proofs.md.

In floats they come with their rounding errors subtracted: what is returned as a constant is not too
large, and what is returned as a gain is not too small. In rational numbers they are exact. Of the
standard library and NumPy only, as all that checks proofs.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from mossrules.solver.proofs.reading import Array, ProofRefused, Source

__all__ = ["EPS", "Squared", "as_integers"]

EPS = 2.0**-52  # twice what a sum, product or quotient of floats may be off by


class Squared:
    """Of yy/2 - q'w + w'Gw/2 + |w|^2 / (2 gamma), with H = G + diag(shift) and ridges less it."""

    def __init__(self, source: Source, header: Any) -> None:
        n, gamma = header["kept"], header["gamma"]
        self.n_weights, self.yy, self.gamma = n, header["yy"], gamma
        self.signs = source.array("signs", "i1", (n,), header)
        self.q = source.array("q", "<f8", (n,), header)
        self.shift = source.array("shift", "<f8", (n,), header)
        triangle, G = source.array("G", "<f8", (n * (n + 1) // 2,), header), np.zeros((n, n))
        G[np.triu_indices(n)] = triangle
        self.G = G + np.triu(G, 1).T
        self.H = self.G + np.diag(self.shift)
        self.ridge = 1.0 / gamma - self.shift
        self.largest = np.abs(self.H).max(axis=1, initial=0.0)
        if not (self.yy >= 0 and (self.ridge > 64 * EPS / gamma).all()):
            raise source.refuse("the shift leaves no ridge")
        # A Cholesky factorisation that runs through proves that no eigenvalue of H is negative,
        # where so much was taken from its diagonal before (Rump 2006).
        self.slack = (n + 16) * EPS * float(np.abs(np.diagonal(self.H)).sum())
        try:
            self.factor = np.linalg.cholesky(self.H - self.slack * np.eye(n))
        except np.linalg.LinAlgError:
            raise source.refuse("G plus the shift is not positive semidefinite") from None
        self.exact: _ExactSquares | None = None

    def same(self, i: int, j: int) -> bool:
        """Tell whether one rule may take the other's place without any change of the loss."""
        equal = self.q[i] == self.q[j] and self.shift[i] == self.shift[j]
        return bool(equal and self.signs[i] == self.signs[j] and (self.G[i] == self.G[j]).all())

    def in_floats(self, rules: Array, w: Array) -> tuple[float, Array]:
        """Return a constant that is not too large and gains that are not too small."""
        # Not by BLAS, whose threads take longer to start than so small a product.
        product, size = np.einsum("i,ij->j", w, self.H[rules]), float(np.abs(w).sum())
        r, off = self.q - product, (len(w) + 8) * EPS * (np.abs(self.q) + self.largest * size)
        pull = np.where(self.signs * r < 0, np.maximum(0.0, off - np.abs(r)), np.abs(r) + off)
        # The ridge is a difference, and known less well where the shift is nearly all of it.
        unsure = 16.0 + 4.0 * (1.0 / self.gamma + np.abs(self.shift)) / self.ridge
        gains = pull**2 / (2.0 * self.ridge) * (1.0 + EPS * unsure)
        quadratic = float(w @ product[rules])
        above = float(np.abs(w) @ (off[rules] + (len(w) + 8) * EPS * np.abs(product[rules])))
        above += 8 * EPS * (self.yy + abs(quadratic) + above)
        return 0.5 * (self.yy - quadratic - above), gains

    def exactly(self, rules: Array, w: Array) -> tuple[Fraction, list[Fraction]]:
        """Return constant and gains as they are."""
        self.exact = self.exact or _ExactSquares(self)
        return self.exact.parts(rules, w)

    def loss(self, rules: Array, w: Array) -> float:
        """Return at least the loss of weights."""
        product = w @ self.G[np.ix_(rules, rules)]
        terms = [0.5 * self.yy, -float(w @ self.q[rules]), 0.5 * float(w @ product)]
        terms.append(0.5 * float(w @ w) / self.gamma)
        size = np.abs(w) @ (np.abs(self.q[rules]) + self.largest[rules] * np.abs(w).sum())
        return float(sum(terms) + (len(w) + 16) * EPS * (self.yy + float(size) + terms[-1]))


class _ExactSquares:
    """The same in rational numbers, kept as integers of a common unit as far as they go."""

    def __init__(self, loss: Squared) -> None:
        self.signs, self.yy = loss.signs.tolist(), Fraction(loss.yy)
        self.ridge = [1 / Fraction(loss.gamma) - Fraction(x) for x in loss.shift.tolist()]
        n = len(loss.q)
        whole, self.unit = as_integers(
            np.vstack([loss.G, np.diag(loss.shift), loss.q, loss.factor])
        )
        self.H, self.q, factor = whole[:n] + whole[n : 2 * n], whole[2 * n], whole[2 * n + 1 :]
        # What a factorisation in floats leaves of H is small; with a diagonal that outweighs the
        # rest of each row it has no negative eigenvalue, and so H has none.
        rest = self.H * self.unit - factor @ factor.T
        diagonal = np.diagonal(rest).copy()
        if not (2 * diagonal >= np.abs(rest).sum(axis=1)).all():
            raise ProofRefused("Refused: G plus the shift is not proven positive semidefinite.")

    def parts(self, rules: Array, w: Array) -> tuple[Fraction, list[Fraction]]:
        v, unit = as_integers(w)
        product = v @ self.H[rules] if len(w) else 0 * self.q
        r = self.q * unit - product  # in units of 1 / (self.unit * unit)
        squares = (self.unit * unit) ** 2
        gains = [
            Fraction(0) if sign * x < 0 else Fraction(x * x, squares) / (2 * ridge)
            for x, sign, ridge in zip(r.tolist(), self.signs, self.ridge, strict=True)
        ]
        quadratic = int(v @ product[rules]) if len(w) else 0
        return (self.yy - Fraction(quadratic, self.unit * unit * unit)) / 2, gains


def as_integers(values: Array) -> tuple[Array, int]:
    """Return floats as integers of a common unit, and how many of these make 1."""
    exponents = np.frexp(values[values != 0.0])[1]
    unit = 1 << max(0, 53 - int(exponents.min(initial=53)))
    whole = [numerator * (unit // denominator) for numerator, denominator in
             (x.as_integer_ratio() for x in values.ravel().tolist())]  # fmt: skip
    return np.array(whole, dtype=object).reshape(values.shape), unit
