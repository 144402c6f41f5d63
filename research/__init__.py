"""Programs that look at the library from outside; none of them is in the wheel."""
