import { describe, expect, it } from "vitest";
import { loadSuite, runSuite } from "../src/index.ts";
import { verifies } from "../src/verifies.ts";
import { failuresOf, patient } from "./support.ts";
import { startShellEngine } from "./targets/shell-engine.ts";

describe("our engine conforms", () => {
  const suite = loadSuite("openharness-engine");

  it.each(["unix", "http", "ws"] as const)("over %s", async (transport) => {
    const target = { kind: "module", start: startShellEngine, name: "shell-engine", transport } as const;
    const report = await runSuite({ suite, target, limits: patient });
    expect(failuresOf(report)).toEqual([]);
    verifies(...report.requirements.map(({ id }) => id));
  });
});
