"""What to select and at what loss: the plain definitions, which every answer is checked against."""
