import { describe, expect, it } from "vitest";
import { serveAdapter } from "../mutants/serve-adapter.ts";
import { loadSuite, runSuite } from "../src/index.ts";
import { verifies } from "../src/verifies.ts";
import { failuresOf, patient } from "./support.ts";
import { createChatAdapter } from "./targets/chat-adapter.ts";

describe("our chat harness conforms", () => {
  it("behind its adapter", async () => {
    const target = {
      kind: "module",
      start: serveAdapter(createChatAdapter),
      name: "chat-harness",
      transport: "unix",
    } as const;
    const report = await runSuite({ suite: loadSuite("chat"), target, limits: patient });
    expect(failuresOf(report)).toEqual([]);
    verifies(...report.requirements.map(({ id }) => id));
  });
});
