import { isPreviewCut } from "@harnesskit/protocol/threads";
import { digest } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import type { Tool } from "../src/index.ts";
import { createMemoryThreadStore } from "../src/memory-thread-store.ts";
import { serve } from "./support/serve.ts";
import { recordingTool } from "./support/tools.ts";

const mark = "[the diff is cut here: 900 of 1000 characters are not shown]";
const cut = `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n${mark}\n+two\n`;

/** A server whose one tool shows what `shown.preview` says. */
const setUp = async (preview: string) => {
  const shown = { preview };
  const store = createMemoryThreadStore();
  const base = recordingTool("bash", "write");
  const tool: Tool = {
    ...base,
    prepare: async (given, scope) => ({ ...(await base.prepare(given, scope)), ...shown }),
  };
  const { client } = serve({ input: { path: "x" }, store, tools: [tool] });
  const threadId = await client.createThread();
  const ask = async () => {
    const { result } = await client.startTurn(threadId);
    const { params } = await client.notification(
      "approval.requested",
      ({ turnId }) => turnId === result.turnId,
    );
    return { turnId: result.turnId as string, requestId: params.requestId as string };
  };
  return { client, store, shown, ask, runs: base.runs };
};

describe("a preview that was cut", () => {
  it("cannot be allowed for always; the question still stands, and once is taken", async () => {
    const { client, ask, runs } = await setUp(cut);
    const { turnId, requestId } = await ask();
    for (const scope of ["thread", "directory", undefined]) {
      const answer = { requestId, decision: "always", ...(scope && { scope }) };
      expect((await client.call("approval.respond", answer)).error).toMatchObject({
        code: -32602,
        data: { reason: "preview_cut" },
      });
    }
    expect(runs).toEqual([]);
    expect((await client.call("grant.list")).result.grants).toEqual([]);
    expect((await client.answer(requestId)).result).toEqual({
      ok: true,
    });
    await client.turnEnd(turnId);
    expect(runs).toHaveLength(1);
  });

  it("is covered by no answer, not even by one that is stored for exactly this preview", async () => {
    const { client, store, shown, ask, runs } = await setUp("-one\n+two\n");
    const first = await ask();
    await client.answer(first.requestId, "always");
    await client.turnEnd(first.turnId);
    const [grant] = await store.grants();
    expect(grant).toBeDefined();
    if (!grant) return;
    shown.preview = cut;
    await store.addGrant({ ...grant, grantId: "grant_cut", previewDigest: await digest(cut) });
    const second = await ask();
    await client.answer(second.requestId, "reject");
    await client.turnEnd(second.turnId);
    expect(runs).toHaveLength(1);
  });
});

describe("isPreviewCut", () => {
  it.each([
    [undefined, false],
    ["", false],
    ["-one\n+two\n", false],
    [cut, true],
    [mark, true],
    ["[the listing is cut here]\n", true],
    // What a file says, in a diff: it has a sign before it.
    [`+${mark}\n`, false],
    [` ${mark}\n-${mark}\n`, false],
    ["the diff is cut here", false],
  ])("%j: %s", (preview, expected) => {
    expect(isPreviewCut(preview)).toBe(expected);
  });
});
