"""The paper's cutting plane: its loop, and one file for each integer solver behind it."""
