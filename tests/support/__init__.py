"""What tests share: oracles, examples, readers of what was written."""
