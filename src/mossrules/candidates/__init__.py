"""From rows to candidate rules and their statistics."""
