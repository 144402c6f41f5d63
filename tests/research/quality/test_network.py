"""Nothing is asked of another machine while the library runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from research.quality import _offline
from research.quality.network import differences, run_offline, without_times

# Fewer trees, and no command that does what others do.
BRIEF = {
    name: ["20" if each == "50" else each for each in command]
    for name, command in _offline.COMMANDS.items()
    if name not in ("demo", "stability", "compare")
}


@pytest.mark.slow
def test_commands_run_without_a_network(tmp_path):
    """Names that are asked for, connections that are tried: none, and each command succeeds."""
    assert run_offline(tmp_path / "run", BRIEF) == []
    made = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"model.json", "predictions.csv", "frontier.json", "report.html"} <= made
    assert "predicted progression" in (tmp_path / "run" / "explain.txt").read_text("utf-8")


def test_an_attempt_is_refused_and_written_down(tmp_path):
    """By name or by number; this machine itself may be asked."""
    program = """
import socket, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from _offline import refuse_network
refuse_network(Path("log"))
for attempt in (
    lambda: socket.create_connection(("example.invalid", 80)),
    lambda: socket.socket().connect(("192.0.2.1", 80)),
    lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"", ("192.0.2.1", 53)),
    lambda: socket.gethostbyname("example.invalid"),
):
    try:
        attempt()
    except ConnectionRefusedError as reason:
        assert "no network" in str(reason)
    else:
        raise AssertionError("It was let through.")
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname())
"""
    folder = str(Path(_offline.__file__).parent)
    command = [sys.executable, "-W", "ignore", "-c", program, folder]
    subprocess.run(command, cwd=tmp_path, check=True)
    kinds = [line.split()[:2] for line in (tmp_path / "log").read_text("utf-8").splitlines()]
    assert kinds == [
        ["refused", "socket.getaddrinfo"],
        ["refused", "socket.connect"],
        ["refused", "socket.sendto"],
        ["refused", "socket.gethostbyname"],
        ["local", "socket.getaddrinfo"],
        ["local", "socket.connect"],
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("in 0.13 s.", "in 12 s.", True),
        ('{"seconds":1e-05,"loss":2}', '{"seconds":3.5,"loss":2}', True),
        ('{"seconds":1e-05,"loss":2}', '{"seconds":1e-05,"loss":3}', False),
        ("on 2026-01-02T03:04:05Z", "on 2027-11-12T13:14:15Z", True),
        ("<dt>Time in seconds</dt> <dd>0.1</dd>", "<dt>Time in seconds</dt> <dd>2</dd>", True),
        ("2 rules", "3 rules", False),
    ],
)
def test_files_differ_by_more_than_their_times(one, other, same, tmp_path):
    """Moments and durations are left out of the comparison; other words and whole files are not."""
    assert (without_times(one) == without_times(other)) is same
    for name, text in (("a", one), ("b", other)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(text, "utf-8")
    assert differences(tmp_path / "a", tmp_path / "b") == ([] if same else ["file"])
    (tmp_path / "a" / "more").write_text(json.dumps(one), "utf-8")
    assert "more" in differences(tmp_path / "a", tmp_path / "b")
