"""A script for other interpreters, in a folder where it finds no module of ours by mistake."""
