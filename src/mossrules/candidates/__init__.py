"""From rows to candidate rules and their statistics.

`search.py` has the order of the steps: `cuts.py` and `codes.py` make codes of values, `forest.py`
grows the trees (`ensembles.py` reads those of others), `pool.py` collects the rules of their paths,
and `statistics.py` counts where they hold. Each step is a fold over chunks of rows. Keep it so:
sums are of integers and draws are functions of a key, so that neither chunks nor threads change a
rule.
"""
