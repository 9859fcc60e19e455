"""An agent with the tools of hello-agent, and three that show how a call streams, counts and fails."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from pathlib import Path
from typing import Optional

from runtime import Context, Json, Tool, ToolError, fits, main

NAME: Json = {"type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]+$"}


def line_of(name: str) -> str:
    return f"- {name}\n"


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read_book(project_root: Optional[str]) -> str:
    """The guest book of the project that a call is about; "" where it has none."""
    if project_root is None:
        return ""
    try:
        return (Path(project_root) / "GUESTS.md").read_text("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        raise ToolError("hello.unreadable", "GUESTS.md cannot be read.") from None


async def greet(given: Json, context: Context) -> Json:
    """Reads. It changes nothing and needs only `fs.read`, so every core allows it."""
    text = await asyncio.to_thread(read_book, context.project_root)
    known = line_of(given["name"]) in text
    return {"greeting": f"Welcome back, {given['name']}!" if known else f"Hello, {given['name']}!"}


def write_book(project_root: Optional[str], given: Json) -> Json:
    if project_root is None:
        raise ToolError("hello.no_project", "The call names no project.")
    text = read_book(project_root)
    if given.get("expected", digest_of(text)) != digest_of(text):
        raise ToolError("hello.changed", "GUESTS.md has changed since the call was shown.")
    with (Path(project_root) / "GUESTS.md").open("a", encoding="utf-8") as book:
        book.write(line_of(given["name"]))
    return {"guests": text.count("\n") + 1}


async def sign(given: Json, context: Context) -> Json:
    """Writes, so the operator must grant `fs.write` and `side_effects`. With `expected` it does what was shown, or nothing."""
    return await asyncio.to_thread(write_book, context.project_root, given)


async def prepare(call: Json, context: Context) -> Json:
    """Prepares calls of the other tools: the input that will run, what a human is shown, and what it is bound to."""
    tool = TOOLS[call["tool"]]
    if call["tool"] != "sign":
        tool.check(call["input"])
        return {"input": call["input"]}
    if not fits(NAME, call["input"].get("name")):
        raise ToolError("tool.invalid_input", "name is not valid")
    shown = {"name": call["input"]["name"]}
    text = await asyncio.to_thread(read_book, context.project_root)
    return {"input": shown, "preview": f"GUESTS.md\n+{line_of(shown['name'])}", "expected": digest_of(text)}


async def word_count(given: Json, _: Context) -> Json:
    text: str = given["text"]
    return {"characters": len(text), "words": len(text.split()), "lines": len(text.splitlines())}


async def countdown(given: Json, context: Context) -> Json:
    for left in range(given["from"], 0, -1):
        await context.emit(str(left))
        await asyncio.sleep(given["interval_ms"] / 1000)
    return {"counted": given["from"]}


async def fail(_given: Json, _: Context) -> Json:
    raise ToolError("example.out_of_tea", "there is no tea", retryable=True, details={"cups": 0})


reads, writes = ("fs.read",), ("fs.write",)
start, interval = ({"type": "integer", "minimum": 1, "maximum": most} for most in (100, 10_000))
steps = {"from": start, "interval_ms": interval}
text = {"type": "string", "maxLength": 100_000}
signing: Json = {"name": NAME, "expected": {"type": "string"}}
TOOLS = {
    "greet": Tool(greet, "Greets a person", {"name": NAME}, permissions=reads),
    "sign": Tool(
        sign,
        "Adds a person to GUESTS.md, the guest book of the project",
        signing,
        optional=frozenset({"expected"}),
        side_effects=True,
        permissions=writes,
    ),
    "word_count": Tool(word_count, "Counts characters, words and lines", {"text": text}),
    "countdown": Tool(countdown, "Counts down aloud", steps),
    "fail": Tool(fail, "Always fails, to show how a tool does", {}),
}
names = {"type": "string", "enum": [*TOOLS]}
shows = {"tool": names, "input": {"type": "object"}}
TOOLS["prepare"] = Tool(prepare, "Shows what a call would do", shows, permissions=reads)

if __name__ == "__main__":
    sys.exit(main(TOOLS))
