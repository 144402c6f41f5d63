from research.harness.tables import anchor, escape, markdown_table


def test_a_table_has_a_rule_that_aligns_its_columns():
    """Tight or spaced; a bar inside of a cell does not end it."""
    cells = [("a", escape("x|y")), ("b", "2")]
    tight = markdown_table(("name", "value"), cells, right=("value",))
    assert tight == ["| name | value |", "|---|---:|", "| a | x\\|y |", "| b | 2 |"]
    spaced = markdown_table(("name", "value"), cells, spaced=True)
    assert spaced[1] == "| --- | --- |"


def test_an_anchor_is_that_of_the_heading():
    """Small letters, digits, and hyphens for spaces."""
    assert anchor("Stopped at any moment: 2, by Ctrl-C") == "stopped-at-any-moment-2-by-ctrl-c"
