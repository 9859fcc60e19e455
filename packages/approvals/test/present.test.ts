import type { JsonObject } from "@harnesskit/protocol/envelope";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ApprovalSubject,
  foldEmpty,
  isGrave,
  lineTokens,
  type PresentOptions,
  presentApproval,
  summarizeResult,
} from "../src/index.ts";

const present = (subject: ApprovalSubject, options?: PresentOptions) =>
  presentApproval(
    {
      subject,
      digest: `sha256:${"a".repeat(64)}`,
      origin: { agent: "co\u202edex", session: "s1", callId: "c1" },
      risk: { level: "high", reasons: ["deletes\nfiles"] },
      rule: { id: "rm", reason: "it\u0007 deletes" },
    },
    options,
  );

const textOf = ({ parts }: ReturnType<typeof present>) =>
  parts.map(({ lines }) => lines.map(({ text }) => text).join("\n"));

describe("what a human sees of an approval", () => {
  it("is no command for a tool that is not known, and a name with another alphabet is marked", () => {
    const wipe = present({ tool: "wipe_disk", input: { command: "ls", disk: "/dev/sda" } });
    expect(wipe.title).toBe("wipe_disk: call it with this input");
    expect(textOf(wipe).join()).toContain("/dev/sda");
    const cyrillic = present({ tool: "b\u0430sh", input: { command: "ls" } });
    expect([cyrillic.title, cyrillic.parts[0]?.kind]).toEqual([
      "b⟨U+0430⟩sh: call it with this input",
      "input",
    ]);
  });

  it("is of high risk at least where something is hidden, and of unknown risk is as grave", () => {
    const low = { risk: { level: "low" as const, reasons: ["it reads"] } };
    const riskOf = (input: JsonObject, preview?: string) =>
      presentApproval({ subject: { tool: "bash", input, ...(preview !== undefined && { preview }) }, ...low })
        .risk;
    for (const hidden of ["a\u202eb", "a\u200bb", "\u001b[2K", "a\u3164"]) {
      const raised = { level: "high", reasons: [expect.stringContaining("hidden characters"), "it reads"] };
      expect(riskOf({ command: hidden })).toEqual(raised);
      expect(riskOf({ list: [{ [hidden]: 1 }] })).toEqual(raised);
      expect(riskOf({ command: "ls" }, hidden)).toEqual(raised);
    }
    for (const text of ["a\r\nb\n\tc", "a\u00a0b", "👩‍💻 ❤️", "日本語"])
      expect(riskOf({ text })).toEqual(low.risk);
    expect(
      ["low", "medium", "high", "critical", "unknown"].filter((level) => isGrave(level as never)),
    ).toEqual(["high", "critical", "unknown"]);
  });

  it("is the command, and every other field", () => {
    const input = { command: "rm -rf build\n\u001b[2Kls", timeout: 5 };
    const view = present({ tool: "bash", input });
    expect(view).toMatchObject({
      title: "bash: run this command",
      isWhole: true,
      risk: { level: "high", reasons: [expect.stringContaining("hidden"), "deletes⟨U+000A⟩files"] },
      rule: "rm",
      reason: "it⟨U+0007⟩ deletes",
      origin: ["agent co⟨U+202E⟩dex", "session s1", "call c1"],
    });
    expect(view.parts.map(({ kind }) => kind)).toEqual(["command", "input"]);
    expect(textOf(view)).toEqual(["rm -rf build\n⟨U+001B⟩[2Kls", '{\n  "timeout": 5\n}']);
  });

  it("is the diff with a kind for each line, and the input", () => {
    const preview = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+n\u200bew\n same\n";
    const view = present({ tool: "edit", input: { path: "src/x\u202e.ts" }, preview });
    expect(view.title).toBe("edit: change src/x⟨U+202E⟩.ts (+1 −1)");
    expect(view.parts.map(({ kind }) => kind)).toEqual(["diff", "input"]);
    expect(view.parts[0]?.lines.map(({ kind, text }) => [kind, text])).toEqual([
      ["file", "--- a/x"],
      ["file", "+++ b/x"],
      ["hunk", "@@ -1 +1 @@"],
      ["removed", "-old"],
      ["added", "+n⟨U+200B⟩ew"],
      ["plain", " same"],
    ]);
    expect(present({ tool: "patch", input: {}, preview }).title).toBe(
      "patch: change what the diff shows (+1 −1)",
    );
  });

  it("is the lines that go and come where a tool replaces a text, and no line looks like another", () => {
    const input = { path: "a.ts", oldText: "one\n-- x", newText: "++ y\u200b", replaceAll: true };
    const view = present({ tool: "edit", input });
    expect(view.title).toBe("edit: change a.ts");
    expect(view.parts[0]).toEqual({
      kind: "diff",
      label: "replaces",
      path: "a.ts",
      lines: [
        { kind: "removed", text: "-one" },
        { kind: "removed", text: "--- x" },
        { kind: "added", text: "+++ y⟨U+200B⟩" },
      ],
    });
    expect(textOf(view)[1]).toBe('{\n  "replaceAll": true\n}');
    const removed = present({ tool: "edit", input: { file_path: "a.ts", old_string: "x", new_string: "" } });
    expect(textOf(removed)[0]).toBe("-x");
    const long = present({ tool: "edit", input: { ...input, oldText: "a\n".repeat(500) } });
    expect(long.isWhole).toBe(false);
  });

  it("shows a field once: what a diff shows word for word is not repeated, and what an agent claims is", () => {
    const input = { path: "n.txt", content: "milk\ntea\n" };
    const preview = "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,2 @@\n+milk\n+tea\n";
    const made = present({ tool: "write", input, preview });
    expect([made.title, made.parts.map(({ kind }) => kind)]).toEqual(["write: create n.txt (+2)", ["diff"]]);
    const claimed = present({ tool: "write", input, preview: preview.replace("tea", "ten") });
    expect(textOf(claimed)[1]).toContain('"content": "milk\\ntea\\n"');
    const partly = {
      subject: { tool: "write", input, preview: "--- a/n\n+++ b/n\n@@ -1 +1,2 @@\n milk\n+tea\n" },
    };
    expect(presentApproval(partly).parts).toHaveLength(1);
    const over = { subject: { ...partly.subject, input: { ...input, content: "a\n\nmilk\ntea\n" } } };
    expect(presentApproval(over).parts).toHaveLength(2);
    expect(presentApproval(over, { isExactPreview: true }).parts).toHaveLength(1);
    const write = present({ tool: "write", input });
    expect([write.title, write.parts[0]?.lines]).toEqual([
      "write: write n.txt",
      [
        { kind: "added", text: "+milk" },
        { kind: "added", text: "+tea" },
      ],
    ]);
  });

  it("counts what would push the rest out of sight", () => {
    const command = `ls${" ".repeat(5000)}; rm -rf ~ a${"\u0301".repeat(100)}`;
    expect(textOf(present({ tool: "bash", input: { command } }))).toEqual([
      `ls⟨5000 spaces⟩; rm -rf ~ a${"\u0301".repeat(8)}⟨92 more marks⟩`,
    ]);
    const lines =
      present({ tool: "bash", input: { command: `ls${"\n".repeat(90)}rm -rf ~` } }).parts[0]?.lines ?? [];
    expect(foldEmpty(lines).map(({ text }) => text)).toEqual(["ls", "… 89 empty lines …", "rm -rf ~"]);
  });

  it("is the prompt, or the input of a tool that is not known", () => {
    const prompt = present({ tool: "prompt", input: { text: "hello", model: "m" } });
    expect([prompt.title, ...textOf(prompt)]).toEqual([
      "give this prompt to the model",
      "hello",
      '{\n  "model": "m"\n}',
    ]);
    const unknown = present({ tool: "mcp__x", input: { command: ["ls"] } });
    expect([unknown.title, ...textOf(unknown)]).toEqual([
      "mcp__x: call it with this input",
      '{\n  "command": [\n    "ls"\n  ]\n}',
    ]);
  });

  it("says how much is cut, and is then not whole", () => {
    const command = `ls\n${"x".repeat(100)}\ntail\u{1f600}`;
    const byLength = present({ tool: "bash", input: { command } }, { maxLength: 10 });
    expect(byLength.parts[0]?.lines).toEqual([
      { kind: "plain", text: "ls" },
      { kind: "plain", text: "xxxxxxx" },
      { kind: "cut", text: "… [100 more characters; 3 lines in all]" },
    ]);
    const byLines = present({ tool: "bash", input: { command } }, { maxLines: 2 });
    expect(byLines.parts[0]?.lines.at(-1)).toEqual({
      kind: "cut",
      text: "… [7 more characters; 3 lines in all]",
    });
    expect([byLength.isWhole, byLines.isWhole]).toEqual([false, false]);
    const emoji = present({ tool: "bash", input: { command: "a\u{1f600}b" } }, { maxLength: 2 });
    expect(textOf(emoji)).toEqual(["a\n… [3 more characters; 1 lines in all]"]);
    expect(present({ tool: "edit", input: {}, preview: "+a\n[the diff is cut here]" }).isWhole).toBe(false);
  });

  it("hides nothing, whatever is asked", () => {
    const strange = fc.string({
      unit: fc.constantFrom(
        "a",
        " ",
        "\n",
        "\t",
        "\u202e",
        "\u200b",
        "\u001b",
        "\u00a0",
        "\ud800",
        ...Array.from("⟨-$'\"`|&;<>(){}#\\=1é"),
        "\u{e0041}",
        " ".repeat(70),
      ),
    });
    const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;
    const input = fc.dictionary(
      fc.constantFrom("command", "text", "path", "content", "other"),
      strange,
    ) as fc.Arbitrary<JsonObject>;
    const stringsIn = (value: unknown): string[] =>
      typeof value === "string"
        ? [value]
        : Object.values(value as object).flatMap((each) =>
            typeof each === "boolean" ? [] : stringsIn(each),
          );
    fc.assert(
      fc.property(strange, input, fc.option(strange, { nil: undefined }), (tool, fields, preview) => {
        const view = present({ tool, input: fields, ...(preview === undefined ? {} : { preview }) });
        expect(stringsIn(view).filter((each) => hidden.test(each))).toEqual([]);
        for (const [name, value] of Object.entries(fields)) {
          const isShown =
            view.parts.some(
              ({ kind, label }) => kind === name || (label === "writes" && name === "content"),
            ) ||
            (name === "path" && view.title.endsWith(` ${String(value)}`)) ||
            textOf(view).some((each) => each.includes(`"${name}":`));
          expect(isShown || (name === "text" && tool === "prompt")).toBe(true);
        }
        for (const { kind, lines } of view.parts) {
          for (const { text } of lines)
            expect(
              lineTokens(kind, text)
                .map((token) => token.text)
                .join(""),
            ).toBe(text);
          for (const { text } of lines) expect(text).not.toMatch(/ {64,}\S/);
        }
      }),
    );
  });
});

describe("what came of a call, in a few words", () => {
  it.each([
    [{ path: "a", text: "a\nb\n", lines: { from: 1, to: 2, total: 2 } }, "2 lines"],
    [
      { path: "a", text: "b\n", lines: { from: 2, to: 2, total: 3 }, truncated: true },
      "lines 2 to 2 of 3, cut",
    ],
    [{ exitCode: 0, stdout: "one\n", stderr: "" }, "1 line"],
    [JSON.stringify({ exitCode: 2, stdout: "", stderr: "" }), "exit code 2, no output"],
    [{ matches: [{}] }, "1 match"],
    [{ path: "n", bytes: 4, created: true }, "new file, 4 bytes"],
    [{ content: [{ type: "text", text: "a\nb" }] }, "2 lines"],
    [
      {
        content: [
          { type: "text", text: "a" },
          { type: "image", mimeType: "image/png\u202e", size: 3 },
          { type: "resource", resource: { uri: "f:x", mimeType: "application/pdf", blob: "AA==" } },
        ],
      },
      "1 line, image/png⟨U+202E⟩, application/pdf",
    ],
    [{ content: [{ type: "text", text: "a" }, { type: "other" }] }, "2 parts"],
    [{ total: 1, rows: 2 }, "2 fields"],
    ["[not JSON", "1 line"],
    [42, "42"],
    [undefined, ""],
  ])("of %j is %s", (output, words) => expect(summarizeResult(output)).toBe(words));
});
