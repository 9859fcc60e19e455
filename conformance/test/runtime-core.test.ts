import { describe, expect, it } from "vitest";
import { loadSuite, runSuite } from "../src/index.ts";
import { verifies } from "../src/verifies.ts";
import { failuresOf, patient } from "./support.ts";
import { startRuntimeCore } from "./targets/runtime-core.ts";

describe("our core conforms", () => {
  const suite = loadSuite("runtime-core");

  it.each(["unix", "tcp"] as const)("over %s", async (transport) => {
    const target = { kind: "module", start: startRuntimeCore, name: "core-runtime", transport } as const;
    const report = await runSuite({ suite, target, limits: patient });
    expect(failuresOf(report)).toEqual([]);
    verifies(...report.requirements.map(({ id }) => id));
  });
});
