"""How a child reads its job and writes its answers; it runs where mossrules is not installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def answer(answers_of: Callable[[Any], Iterable[Any]]) -> None:
    """Read the job that the first argument names; write each answer, at once, to the second."""
    job_path, answers_path = map(Path, sys.argv[1:])
    job = json.loads(job_path.read_text(encoding="utf-8"))
    with answers_path.open("w", encoding="utf-8") as answers:
        for each in answers_of(job):
            answers.write(f"{json.dumps(each)}\n")
            answers.flush()
