import { describe, expect, it } from "vitest";
import { loadSuite, runSuite } from "../src/index.ts";
import { verifies } from "../src/verifies.ts";
import { failuresOf, patient } from "./support.ts";
import { startShellClient } from "./targets/shell-client.ts";

describe("our shell conforms", () => {
  const suite = loadSuite("openharness-shell");

  it.each(["unix", "http", "ws"] as const)("over %s", async (transport) => {
    const target = { kind: "module", start: startShellClient, name: "shell-client", transport } as const;
    const report = await runSuite({ suite, target, limits: patient });
    expect(failuresOf(report)).toEqual([]);
    verifies(...report.requirements.map(({ id }) => id));
  });
});
