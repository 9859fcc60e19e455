import { describe, expect, it } from "vitest";
import { loadSuite, runSuite } from "../src/index.ts";
import { verifies } from "../src/verifies.ts";
import { failuresOf, patient } from "./support.ts";
import { startRuntimeAgent } from "./targets/runtime-agent.ts";

describe("our agent conforms", () => {
  const suite = loadSuite("runtime-agent");

  it.each(["unix", "tcp"] as const)("over %s", async (transport) => {
    const target = { kind: "module", start: startRuntimeAgent, name: "agent-sdk", transport } as const;
    const report = await runSuite({ suite, target, limits: patient });
    expect(failuresOf(report)).toEqual([]);
    verifies(...report.requirements.map(({ id }) => id));
  });
});
