"""What the paper's experiments, benchmarks and checks of quality share, said once.

`clone` knows where things are and what made a result, `measuring` clocks and memory, `processes`
other interpreters, `records` runs that can be interrupted, `reports` figures against what was asked
of them, and `tables` Markdown. What is measured is not known here.
"""
