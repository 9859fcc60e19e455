import { describe, expect, it } from "vitest";
import { loadSuite, runSuite } from "../src/index.ts";
import { verifies } from "../src/verifies.ts";
import { failuresOf, patient } from "./support.ts";
import { startAhpHarness } from "./targets/ahp-harness.ts";

describe("our harness conforms", () => {
  const suite = loadSuite("ahp-server");

  it.each(["unix", "tcp", "http", "ws"] as const)("over %s", async (transport) => {
    const report = await runSuite({
      suite,
      target: { kind: "module", start: startAhpHarness, name: "ahp-server", transport },
      limits: patient,
    });
    expect(failuresOf(report)).toEqual([]);
    verifies(...report.requirements.map(({ id }) => id));
  });
});
