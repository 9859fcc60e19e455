import { createMemoryTimelineStore } from "@harnesskit/timeline";
import { sampleRow } from "@harnesskit/timeline/testing";
import { describe, expect, it } from "vitest";
import { saidText } from "../src/client/index.ts";
import { call, openHub } from "./support/open-hub.ts";

describe("a session that is read", () => {
  it("has the title of its first prompt, and gives its rows with their content", async () => {
    await using hub = await openHub();
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    const metadata = { turn_id: "t1" };
    const prompt = [
      { role: "user", content: [{ type: "text", text: "Fix the test.\nThen stop." }] },
      { role: "assistant", content: [{ type: "tool-call", toolName: "read" }] },
    ];
    await agent.decide("pre_prompt", { prompt } as never, { metadata });
    await agent.decide("pre_action", call("ls", "c1", "read"));
    const { sessions } = await client.call("sessions.list", { agent: "codex", session: "s1" });
    expect(sessions).toMatchObject([{ title: "Fix the test.", running: 1, actions: 1 }]);
    const read = await client.call("timeline.read", { agent: "codex", session: "s1" });
    expect(read.details.map(({ row }) => row.summary)).toEqual(["pre_prompt: Fix the test.", "read ls"]);
    expect(read.details[1]).toMatchObject({ input: { value: { command: "ls" } } });
    expect(read.nextAfterId).toBeUndefined();
    const turn = { agent: "codex", session: "s1", turn: "t1" };
    expect((await client.call("timeline.read", turn)).details).toHaveLength(1);
    expect((await client.call("timeline.read", { ...turn, agent: "other" })).details).toEqual([]);
  });

  it("comes in pages, each of which fits into a message", async () => {
    const timeline = createMemoryTimelineStore();
    await using hub = await openHub({ timeline });
    const content = { output: { value: "x".repeat(300_000), isCut: false } };
    await timeline.write(Array.from({ length: 10 }, () => ({ type: "add", row: sampleRow(), content })));
    const client = await hub.client();
    const ids: number[] = [];
    let pages = 0;
    for (let afterId: number | undefined = 0; afterId !== undefined; pages++) {
      const params = { agent: "codex", session: "s1", afterId };
      const page: Awaited<ReturnType<typeof client.call<"timeline.read">>> = await client.call(
        "timeline.read",
        params,
      );
      ids.push(...page.details.map(({ row }) => row.id));
      afterId = page.nextAfterId;
    }
    expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(pages).toBeGreaterThan(2);
    await timeline.close();
  });

  it("has the text of what was said, whatever shape it has", () => {
    expect(saidText({ prompt: "do it" })).toBe("do it");
    const messages = [
      { role: "user", content: "first" },
      { role: "user", content: "last" },
      { role: "tool" },
    ];
    expect(saidText({ prompt: messages })).toBe("last");
    expect(saidText({ prompt: [{ role: "system", content: "be kind" }] })).toBe("be kind");
    expect(saidText({ text: "done", outcome: "success" })).toBe("done");
    expect(saidText({ result: [{ type: "text", text: "a" }, 7, { text: "b" }] })).toBe("a\nb");
    expect(saidText({ prompt: [], text: " ", exit_code: 1 })).toBeUndefined();
  });
});
