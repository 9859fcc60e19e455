import { describe, expect, it } from "vitest";
import { loadSuite, runSuite } from "../src/index.ts";
import { verifies } from "../src/verifies.ts";
import { failuresOf, patient } from "./support.ts";
import { startAhpAgent } from "./targets/ahp-agent.ts";

describe("our client of harnesses conforms", () => {
  const suite = loadSuite("ahp-client");

  it.each(["unix", "tcp", "http", "ws"] as const)("over %s", async (transport) => {
    const target = { kind: "module", start: startAhpAgent, name: "ahp-client", transport } as const;
    const report = await runSuite({ suite, target, limits: patient });
    expect(failuresOf(report)).toEqual([]);
    verifies(...report.requirements.map(({ id }) => id));
  });
});
