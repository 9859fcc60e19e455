import { describe, expect, it } from "vitest";
import { loadSuite, runSuite } from "../src/index.ts";
import { verifies } from "../src/verifies.ts";
import { failuresOf, patient } from "./support.ts";
import { startThreadServer } from "./targets/thread-server.ts";

describe("our thread server conforms", () => {
  const suite = loadSuite("threads-server");

  it.each(["unix", "ws"] as const)("over %s", async (transport) => {
    const target = { kind: "module", start: startThreadServer, name: "thread-server", transport } as const;
    const report = await runSuite({ suite, target, limits: patient });
    expect(failuresOf(report)).toEqual([]);
    verifies(...report.requirements.map(({ id }) => id));
  });
});
