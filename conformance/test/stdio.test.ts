import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSuite, runSuite } from "../src/index.ts";
import { verifies } from "../src/verifies.ts";
import { bundlePeers, failuresOf, patient } from "./support.ts";

describe("our programs conform over stdio", () => {
  let bundle: Awaited<ReturnType<typeof bundlePeers>>;
  beforeAll(async () => {
    bundle = await bundlePeers();
  });
  afterAll(() => bundle.remove());

  it.each([
    "ahp-server",
    "ahp-client",
    "threads-server",
    "threads-client",
    "openharness-engine",
    "openharness-shell",
    "chat",
  ])("%s", async (name) => {
    const command = `exec '${process.execPath}' '${bundle.path}' ${name}`;
    const target = { kind: "command", command, transport: "stdio" } as const;
    const report = await runSuite({ suite: loadSuite(name), target, limits: patient });
    expect(failuresOf(report)).toEqual([]);
    // The statements about threads are those of servers.
    if (name !== "threads-client") verifies(...report.requirements.map(({ id }) => id));
  });
});
