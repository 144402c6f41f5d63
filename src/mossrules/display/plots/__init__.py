"""Figures: each has its data first, as a frame, and a drawing of exactly that by matplotlib."""
