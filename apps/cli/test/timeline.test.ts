import type { EventBody, Item } from "@harnesskit/protocol/threads";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Prose } from "../src/terminal/prose.ts";
import { wantsColour } from "../src/terminal/terminal.ts";
import { formatDuration, formatTime, oneLine, safeJson } from "../src/terminal/text.ts";
import { LogView } from "../src/timeline/log-view.ts";
import { View } from "../src/timeline/view.ts";
import { FakeTerminal } from "./support/fake-terminal.ts";

const hidden = /[^\n\t\P{Cc}]|[\p{Cf}\p{Co}\p{Zl}\p{Zp}]/u;
const ids = { threadId: "ses_1", turnId: "turn_1" };

const proseOf = (pieces: readonly string[]): string => {
  const terminal = new FakeTerminal();
  const prose = new Prose(terminal, (text) => text);
  for (const piece of pieces) prose.push(piece);
  prose.end();
  return terminal.text;
};

const logOf = (
  pieces: readonly string[],
  { columns, truncated = false }: { columns?: number; truncated?: boolean } = {},
) => {
  const terminal = new FakeTerminal(columns);
  const log = new LogView(terminal);
  for (const piece of pieces) log.push(piece);
  log.end(truncated);
  return terminal.text;
};

/** A text in pieces, cut anywhere, also within a character. */
const piecesOf = fc
  .tuple(
    fc.string({
      unit: fc.constantFrom("a", " ", "\n", "\t", "\u001b", "\u202e", "é", "日", "👩‍👩‍👧", "x".repeat(40)),
      maxLength: 60,
    }),
    fc.array(fc.nat(400), { maxLength: 8 }),
  )
  .map(([text, cuts]) => {
    const places = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].sort(
      (a, b) => a - b,
    );
    return { text, pieces: places.slice(1).map((end, index) => text.slice(places[index], end)) };
  });

describe("prose", () => {
  it("is the same however it is cut into pieces, and nothing hides in it", () => {
    fc.assert(
      fc.property(piecesOf, ({ text, pieces }) => {
        expect(proseOf(pieces)).toBe(proseOf([text]));
        expect(proseOf(pieces).replaceAll("👩‍👩‍👧", "")).not.toMatch(hidden);
      }),
    );
  });

  it("writes a word without an end in pieces and keeps characters whole", () => {
    const word = `${"x".repeat(300)}👍${"y".repeat(300)}`;
    expect(proseOf([...word.split("")])).toBe(word);
  });
});

describe("a tool's log", () => {
  it("leaves the middle of a long log out and says how much", () => {
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index}\n`).join("");
    const shown = logOf([lines]).split("\n");
    expect(shown).toHaveLength(5 + 1 + 3 + 1);
    expect(shown[5]).toBe("  … 92 more lines");
    expect(shown.at(-2)).toBe("  │ line 99");
  });

  it("fits a terminal, and bounds a line that has no end", () => {
    for (const line of logOf(["y".repeat(100_000)], { columns: 80 }).split("\n"))
      expect(line.length).toBeLessThan(80);
    expect(logOf(["y".repeat(100_000)]).length).toBeLessThan(500);
  });
});

const item = <T extends Item["type"]>(type: T, itemId: string, data: unknown): Item =>
  ({ ...ids, itemId, type, data }) as Item;
const started = (value: Item): EventBody => ({
  type: "item.started",
  data: { ...ids, itemId: value.itemId, type: value.type, item: value },
});
const completed = (value: Item): EventBody => ({
  type: "item.completed",
  data: { ...ids, itemId: value.itemId, type: value.type, item: value },
});
const updated = (value: Item): EventBody => ({
  type: "item.updated",
  data: { ...ids, itemId: value.itemId, type: value.type, item: value },
});
const delta = (type: Item["type"], itemId: string, text: string): EventBody => ({
  type: "item.delta",
  data: { ...ids, itemId, type, delta: text },
});
const timelineOf = (events: readonly EventBody[], columns?: number): string => {
  const terminal = new FakeTerminal(columns);
  const timeline = new View({ terminal });
  for (const event of events) timeline.show(event);
  timeline.breakLine();
  return terminal.text;
};
const tool = (status: string, more: Record<string, unknown> = {}) =>
  item("tool_exec", "t1", { tool: "bash", input: { command: "ls" }, status, ...more });

describe("the timeline", () => {
  it.each([
    ["succeeded", {}, "● bash ls ✓\n"],
    ["failed", { error: "code 1" }, "● bash ls\n  ✗ failed: code 1\n"],
    ["rejected", { error: "No." }, "● bash ls\n  ✗ refused: No.\n"],
    ["blocked", { error: "policy" }, "● bash ls\n  ⊘ blocked: policy\n"],
    ["cancelled", {}, "● bash ls\n  ○ cancelled\n"],
    ["unknown", { error: "May have run." }, "● bash ls\n  ? unknown: May have run.\n"],
  ])("shows a tool call that %s", (status, more, text) => {
    expect(timelineOf([started(tool("running")), completed(tool(status, more))])).toBe(text);
  });

  it.each([
    ["updated", updated],
    ["started again", started],
  ])("shows a call that is %s once, and again with another input", (_what, again) => {
    const end = completed(tool("succeeded"));
    expect(timelineOf([started(tool("pending")), again(tool("running")), end])).toBe("● bash ls ✓\n");
    const other = tool("running", { input: { command: "ls -l" } });
    expect(timelineOf([started(tool("pending")), again(other), end])).toBe("● bash ls\n● bash ls -l ✓\n");
  });

  it("shows a message that is started again once", () => {
    const message = (text: string) => item("assistant_message", "m1", { text });
    const events = [
      started(message("")),
      delta("assistant_message", "m1", "one "),
      started(message("")),
      delta("assistant_message", "m1", "two"),
      completed(message("one two")),
    ];
    expect(timelineOf(events)).toBe("one two\n");
  });

  it("does not show a name that looks like another tool's as that one", () => {
    const looksAlike = tool("failed", { tool: "b\u0430sh", error: "none" });
    expect(timelineOf([started(looksAlike), completed(looksAlike)])).toMatch(/^● b⟨U\+0430⟩sh /);
  });

  it("shows a message whose deltas were lost whole", () => {
    const message = (text: string) => item("assistant_message", "m1", { text });
    const events = [
      started(message("")),
      delta("assistant_message", "m1", "one "),
      completed(message("zero one two")),
    ];
    expect(timelineOf(events)).toContain("zero one two");
    const none = [started(message("")), completed(message("all of it"))];
    expect(timelineOf(none)).toBe("all of it\n");
  });

  it("shows an item whose start is missing", () => {
    expect(timelineOf([completed(item("assistant_message", "m1", { text: "hello" }))])).toBe("hello\n");
    const log = item("tool_log", "l1", { toolItemId: "t1", stream: "stdout", text: "out\n" });
    expect(timelineOf([completed(log)])).toBe("  │ out\n");
  });

  it("shows artifacts, file inputs, unanswered approvals and the error of a turn", () => {
    const prompt = item("user_message", "u1", {
      content: [
        { type: "text", text: "look" },
        { type: "file", path: "a.png" },
      ],
    });
    const artifact = item("artifact", "a1", {
      kind: "report",
      path: "out.html",
      mimeType: "text/html",
      sizeBytes: 12,
    });
    const metadata = { tool: "bash", input: {}, digest: "d" };
    const approval = item("approval", "p1", {
      requestId: "r",
      permission: "bash",
      metadata,
      reason: "closed",
    });
    const turn = { ...ids, status: "error" as const, time: { started: 0, completed: 1500 } };
    const shown = timelineOf([
      completed(prompt),
      completed(artifact),
      completed(approval),
      { type: "turn.error", data: { ...ids, error: "No model.", code: "x", turn } },
    ]);
    expect(shown).toContain("› look\n› [file a.png]\n");
    expect(shown).toContain("◆ report out.html (12 bytes)\n");
    expect(shown).toContain("? not answered: closed\n");
    expect(shown).toContain("✗ failed: No model. (x) · 1.5 s\n");
  });

  it("lets nothing hide, whatever an event holds", () => {
    const text = fc.string({ unit: "binary", maxLength: 40 });
    const event = fc.oneof(
      text.map((t) => completed(item("user_message", "u", { content: [{ type: "text", text: t }] }))),
      text.map((t) => completed(item("assistant_message", "m", { text: t }))),
      text.map((t) => completed(item("tool_log", "l", { toolItemId: "t", stream: "stderr", text: t }))),
      text.map((t) =>
        completed(item("tool_exec", "t", { tool: t, input: { a: t }, status: "failed", error: t })),
      ),
      text.map((t) =>
        started(item("tool_exec", "t", { tool: "bash", input: { command: t }, status: "running" })),
      ),
      text.map((t) => completed(item("artifact", "a", { kind: t, path: t, mimeType: t, sizeBytes: 1 }))),
      text.map((t) =>
        completed(
          item("approval", "p", {
            requestId: t,
            permission: t,
            metadata: { tool: t, input: {}, digest: t },
            decision: "once",
            resolvedBy: t,
          }),
        ),
      ),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (events) => {
        expect(timelineOf(events, 80)).not.toMatch(
          /[^\n\t\P{Cc}]|[\u202a-\u202e\u2066-\u2069\u200b\u2028\u2029]/u,
        );
      }),
    );
  });
});

describe("small things", () => {
  it("writes JSON that means the same and hides nothing", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
        const line = safeJson({ value, text });
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify({ value, text })));
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  it("keeps a text on one line", () => {
    expect(oneLine("a\r\nb\nc")).toBe("a⏎ b⏎ c");
    expect(oneLine("日本語日本語", 6)).toBe("日本…");
    expect(oneLine("x".repeat(1000), 10)).toBe(`${"x".repeat(9)}…`);
    expect(oneLine("")).toBe("");
  });

  it("words times", () => {
    expect([0, 999, 1500, 65_000].map(formatDuration)).toEqual(["0 ms", "999 ms", "1.5 s", "1 min 5 s"]);
    expect(formatDuration(119_700)).toBe("2 min 0 s");
    expect(formatTime(0)).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d$/);
    expect(formatTime(Number.MAX_VALUE)).toContain("unknown");
  });

  it("colours on a terminal that wants it only", () => {
    expect(wantsColour({ isTTY: true }, {})).toBe(true);
    expect(wantsColour({ isTTY: true }, { NO_COLOR: "1" })).toBe(false);
    expect(wantsColour({ isTTY: true }, { TERM: "dumb" })).toBe(false);
    expect(wantsColour({}, {})).toBe(false);
  });
});
