import { digest } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { ChatEvents } from "../src/chat/chat-events.ts";
import { answersText, WaitingCalls } from "../src/chat/waiting-calls.ts";
import { parseChatLine } from "../src/terminal/chat-line.ts";
import { View } from "../src/timeline/view.ts";
import { FakeTerminal } from "./support/fake-terminal.ts";

describe("a line of the user", () => {
  it.each([
    ["hello there", { kind: "message", text: "hello there" }],
    ["  //etc/hosts ", { kind: "message", text: "/etc/hosts" }],
    ["   ", { kind: "nothing" }],
    ["/approve 1a2b", { kind: "approve", id: "1a2b" }],
    ["/approve", { kind: "approve", id: "" }],
    ["/approve 1a2b now", { kind: "other", word: "/approve 1a2b now", argument: "" }],
    ["/reject 1a2b not  this way", { kind: "reject", id: "1a2b", reason: "not  this way" }],
    ["/reject", { kind: "reject", id: "", reason: undefined }],
    ["/quit", { kind: "quit" }],
    ["/approved", { kind: "other", word: "/approved", argument: "" }],
  ])("%j", (line, command) => {
    expect(parseChatLine(line)).toEqual(command);
  });
});

const call = { id: "c1", name: "read", arguments: { path: "a.md" } };

const conversation = () => {
  const terminal = new FakeTerminal();
  const view = new View({ terminal, showDone: false });
  const events = new ChatEvents((event) => view.show(event));
  events.begin();
  return { terminal, events };
};

describe("the view of a conversation", () => {
  it("streams text and thoughts, and shows calls with their ends", () => {
    const { terminal, events } = conversation();
    for (const delta of ["I ", "loo", "k."]) events.progress({ type: "text", delta });
    events.progress({ type: "tool_started", call, input: call.arguments });
    events.progress({ type: "result", call, content: "text" });
    events.progress({ type: "tool_started", call, input: call.arguments });
    const failure = { status: "failed", code: "tool_failed", message: "The tool failed: no" };
    events.progress({ type: "result", call, content: JSON.stringify(failure) });
    const refused = { status: "rejected", code: "rejected", message: "The user rejected this call" };
    events.progress({ type: "result", call, content: JSON.stringify(refused) });
    events.progress({ type: "thinking", delta: "Hm." });
    events.progress({ type: "text", delta: "Done." });
    events.end({ outcome: "completed", replies: [] });
    expect(terminal.text.split("\n").filter((line) => line !== "")).toEqual([
      "I look.",
      "● read a.md, 1 line ✓",
      "● read a.md",
      "  ✗ failed: The tool failed: no",
      "● read a.md",
      "  ✗ refused: The user rejected this call",
      "Hm.",
      "Done.",
      "⊘ ended: 1 call did not run: refused",
    ]);
  });

  it("counts what did not run over a turn that waits and goes on", () => {
    const { terminal, events } = conversation();
    const refused = { status: "rejected", code: "rejected", message: "no" };
    events.progress({ type: "result", call, content: JSON.stringify(refused) });
    events.end({ outcome: "suspended" } as never);
    events.begin();
    events.end({ outcome: "completed", replies: [] });
    expect(terminal.text).toContain("⊘ ended: 1 call did not run: refused");
  });

  it("shows nothing that could deceive, from a model, a tool or an error", () => {
    const { terminal, events } = conversation();
    events.progress({ type: "text", delta: "a\u001b[2Jb \u202Ec " });
    events.progress({ type: "tool_started", call: { ...call, name: "r\u001bm" }, input: { path: "x\ny" } });
    events.end({
      outcome: "errored",
      error_bucket: "user_correctable",
      reply: { role: "system", content: "no\u0007\nreally" },
    });
    events.recall([{ role: "assistant", content: "\u001b]0;title\u0007" }]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(terminal.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(terminal.text).toContain("⟨U+001B⟩");
  });
});

describe("calls that wait", () => {
  const waitingTurn = async (invocationId: string, tool = "send", claimed?: string) => ({
    invocation_id: invocationId,
    signal_descriptor: {
      signal_id: `${invocationId}.1.1`,
      metadata: {
        kind: "tool_approval",
        tool,
        call_id: "a",
        input: { to: "bob" },
        digest: claimed ?? (await digest({ tool, input: { to: "bob" } })),
      },
    },
  });

  it("are found by the beginning of their id, or as the only one", async () => {
    const calls = new WaitingCalls("/work", new FakeTerminal().style);
    expect(calls.find("")).toBe("Nothing waits for an approval.");
    const [{ lines = [], call } = {}] = await calls.add(await waitingTurn("11111111-aaaa"));
    expect(lines.join("\n")).toContain('"to": "bob"');
    expect(answersText(call?.id ?? "")).toBe("  /approve 11111111   /reject 11111111 [REASON]");
    expect(calls.find("")).toMatchObject({ invocationId: "11111111-aaaa" });
    await calls.add(await waitingTurn("11111111-bbbb"));
    expect(calls.find("")).toBe("Say which: 11111111, 11111111-");
    expect(calls.find("11111111-")).toMatchObject({ invocationId: "11111111-bbbb" });
    expect(calls.find("2")).toContain("Nothing waits under 2.");
  });

  it("are shown each with an id of its own where a step has several, and not again while they wait", async () => {
    const calls = new WaitingCalls("/work", new FakeTerminal().style);
    const { invocation_id, signal_descriptor } = await waitingTurn("11111111-aaaa");
    const { metadata } = signal_descriptor;
    const own = { ...metadata, call_id: "c" };
    const several = (...others: (typeof own & { readonly signal_id: string })[]) => ({
      invocation_id,
      signal_descriptor: { signal_id: "11111111-aaaa.1.1", metadata: { ...metadata, others } },
    });
    const shown = await calls.add(several({ ...own, signal_id: "11111111-aaaa.1.3" }));
    expect(shown.map(({ call, wasShown }) => [call?.id, wasShown])).toEqual([
      ["11111111.1", false],
      ["11111111.3", false],
    ]);
    expect(calls.find("11111111.3")).toMatchObject({ request: { call_id: "c" } });
    const left = calls.find("11111111.3");
    if (typeof left === "string") throw new TypeError(left);
    calls.remove(left);
    expect(await calls.add(several())).toMatchObject([{ call: { id: "11111111.1" }, wasShown: true }]);
  });

  it("cannot be answered where the digest is not that of what is shown, or where it is no call", async () => {
    const calls = new WaitingCalls("/work", new FakeTerminal().style);
    const [left] = await calls.add(await waitingTurn("1", "send", "sha256:0"));
    expect(left?.lines.join("\n")).toContain("left alone");
    const job = { invocation_id: "2", signal_descriptor: { signal_id: "job-1", metadata: { kind: "job" } } };
    expect(await calls.add(job)).toEqual([{ lines: ["  It waits for the signal job-1."] }]);
    expect(calls.find("")).toBe("Nothing waits for an approval.");
  });
});
