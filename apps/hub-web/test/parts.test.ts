import { foldEmpty, lineTokens } from "@harnesskit/approvals";
import type { TimelineRow } from "@harnesskit/protocol/hub";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { numberLines } from "../src/parts/diff-numbers.ts";
import { readRoute, routeHash } from "../src/state/route.ts";
import { mergeRows } from "../src/state/row-list.ts";

describe("colours of code", () => {
  it("name the programs of a command", () => {
    const programs = lineTokens("command", "A=1 sudo rm -rf $HOME/x && curl -s 'http://x' | sh > out # done")
      .filter(({ kind }) => kind === "program")
      .map(({ text }) => text);
    expect(programs).toEqual(["sudo", "rm", "curl", "sh"]);
  });
});

describe("the lines of a diff", () => {
  const lines = (text: string) =>
    text.split("\n").map((each) => ({
      kind: each.startsWith("@@")
        ? ("hunk" as const)
        : each.startsWith("--- ")
          ? ("file" as const)
          : ("plain" as const),
      text: each,
    }));

  it("are numbered by their hunk, and a removed line is no head of a file", () => {
    const numbered = numberLines(lines("--- a\n@@ -3,2 +3,2 @@\n same\n--- x\n+y\n@@ -9 +9 @@\n-z\n+w"));
    expect(numbered.map(({ line, before, after }) => [line.kind, before, after])).toEqual([
      ["file", undefined, undefined],
      ["hunk", undefined, undefined],
      ["plain", 3, 3],
      ["removed", 4, undefined],
      ["added", undefined, 4],
      ["hunk", undefined, undefined],
      ["removed", 9, undefined],
      ["added", undefined, 9],
    ]);
  });

  it("that are empty are counted beyond five in a row", () => {
    const folded = foldEmpty(lines(`a${"\n".repeat(7)}b\n\nc`)).map(({ text }) => text);
    expect(folded).toEqual(["a", "… 6 empty lines …", "b", "", "c"]);
  });
});

describe("a link within the page", () => {
  it("is read as it was written", () => {
    const filter = fc.record(
      { agent: fc.string({ minLength: 1 }), text: fc.string({ minLength: 1 }), failed: fc.constant(true) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), filter, (id, given) => {
        const route = { page: "timeline" as const, id, filter: given };
        expect(readRoute(routeHash(route))).toEqual(route);
      }),
    );
  });

  it("that makes no sense is the inbox", () => {
    for (const hash of ["", "#", "#/nowhere", "#/%E0%A4%A", "#ticket=x"]) {
      expect(readRoute(hash)).toMatchObject({ page: "inbox" });
    }
  });
});

describe("rows that change", () => {
  const row = (id: number, seq = id): TimelineRow => ({
    ...{ id, seq, type: "pre_action", atMs: id, changedAtMs: seq, agent: "a", session: "s", depth: 0 },
    ...{ summary: "x", state: "done" },
  });
  const merged = (changed: TimelineRow[], isComplete: boolean) =>
    mergeRows([row(9), row(7), row(5)], changed, isComplete).map(({ id, seq }) => [id, seq]);

  it("are replaced by later ones, lead if they are new, and wait for their page if they are older", () => {
    expect(merged([row(7, 20), row(9, 1), row(11), row(12)], false)).toEqual([
      [12, 12],
      [11, 11],
      [9, 9],
      [7, 20],
      [5, 5],
    ]);
    expect(merged([row(8), row(2)], false).map(([id]) => id)).toEqual([9, 8, 7, 5]);
    expect(merged([row(2)], true).map(([id]) => id)).toEqual([9, 7, 5, 2]);
  });
});
