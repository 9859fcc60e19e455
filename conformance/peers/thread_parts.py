"""Parts of thread_server.py: errors, a turn that runs, and how params are read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Optional

Json = dict[str, Any]


class Refused(Exception):
    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message, **({} if data is None else {"data": data})}


def now() -> int:
    return int(time.time() * 1000)


class Turn:
    """A turn that runs, in a thread of its own."""

    def __init__(self, turn: Json, steps: list[Json]) -> None:
        self.turn, self.steps, self.skip_to = turn, steps, 0
        self.is_cancelled = False
        self.changed = threading.Condition()
        self.request_id: Optional[str] = None
        self.decision: Optional[str] = None


def run_command(command: str, directory: Path, running: Turn) -> tuple[int, str, str]:
    """Its exit code and what it printed, whatever its bytes; a cancelled turn ends it, with its children."""
    process = subprocess.Popen(
        command, shell=True, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    while True:
        try:
            stdout, stderr = process.communicate(timeout=0.05)
            return process.returncode, stdout.decode(errors="replace"), stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            if running.is_cancelled:
                os.killpg(process.pid, signal.SIGKILL)


def string(params: Json, name: str, default: Optional[str] = None) -> str:
    value = params.get(name, default)
    if not isinstance(value, str):
        raise Refused(-32602, f"{name} has to be a string")
    return value


def is_input(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    return (part.get("type") == "text" and isinstance(part.get("text"), str)) or (part.get("type") == "file" and ("path" in part or "uri" in part))


def steps_of(content: list[Json]) -> list[Json]:
    try:
        return list(json.loads(content[0]["text"])["conformance"])
    except (ValueError, KeyError, IndexError, TypeError):
        return [{"say": "I am the test agent of the suite"}]
