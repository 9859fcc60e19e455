import { describe, expect, it } from "vitest";
import { loadSuite, runSuite } from "../src/index.ts";
import { failuresOf, patient } from "./support.ts";
import { startThreadClient } from "./targets/thread-client.ts";

describe("our client of threads conforms", () => {
  const suite = loadSuite("threads-client");

  it.each(["unix", "ws"] as const)("over %s", async (transport) => {
    const target = { kind: "module", start: startThreadClient, name: "thread-client", transport } as const;
    const report = await runSuite({ suite, target, limits: patient });
    expect(failuresOf(report)).toEqual([]);
  });
});
