import { describe, expect, it } from "vitest";
import { createChatHarness } from "../src/index.ts";
import { gate, line, says, user } from "./support/graphs.ts";
import { texts } from "./support/texts.ts";

describe("Streaming", () => {
  it("is for observers, which change no outcome when they throw or hang", async () => {
    const seen: string[] = [];
    const door = gate();
    const warnings: unknown[] = [];
    const harness = createChatHarness({
      graph: line({ one: () => ({ messages: [says("1")] }), two: () => ({ messages: [says("2")] }) }),
      compile: { onError: (_, { kind }) => warnings.push(kind) },
    });
    harness.graph.attach((event) => {
      seen.push(`${event.phase} ${event.node_name}`);
      throw new TypeError("an observer fails");
    });
    harness.graph.attach(() => door.wait());
    expect(texts(await harness.send("s", user("a")))).toEqual(["1", "2"]);
    expect(texts(await harness.send("s", user("b")))).toEqual(["1", "2"]);
    await harness.close({ timeoutMs: 0 });
    expect(seen[0]).toBe("started one");
    expect(warnings).toContain("observer_failed");
  });

  it("gives nodes the metadata of the turn", async () => {
    const seen: unknown[] = [];
    const graph = line({
      look: (_, { metadata, sessionId }) => {
        seen.push([sessionId, metadata]);
      },
    });
    await createChatHarness({ graph }).send("s", user("a"), { metadata: { user: "u1" } });
    expect(seen).toEqual([["s", { user: "u1" }]]);
  });
});
