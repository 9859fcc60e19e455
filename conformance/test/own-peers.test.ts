import { afterAll, beforeAll, describe, it } from "vitest";
import { loadSuite, runSuite, suiteNames, type TargetSpec } from "../src/index.ts";
import { targets } from "./programs/targets.ts";
import { bundlePeers, expectHolds, patient } from "./support.ts";

const cases = suiteNames().flatMap((name) =>
  Object.keys(loadSuite(name).role.transports).map((transport) => ({ name, transport })),
);

describe("our implementation conforms", () => {
  let bundle: Awaited<ReturnType<typeof bundlePeers>>;
  beforeAll(async () => {
    bundle = await bundlePeers();
  });
  afterAll(() => bundle.remove());

  it.each(cases)("$name over $transport", async ({ name, transport }) => {
    const command = `exec '${process.execPath}' '${bundle.path}' ${name}`;
    const target: TargetSpec =
      transport === "stdio"
        ? { kind: "command", command, transport }
        : { kind: "module", start: targets[name], name, transport };
    expectHolds(await runSuite({ suite: loadSuite(name), target, limits: patient }));
  });
});
