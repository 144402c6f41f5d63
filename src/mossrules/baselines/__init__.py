"""What one would otherwise use: other learners of rules, on the same candidates or on their own."""

__all__: list[str] = []
