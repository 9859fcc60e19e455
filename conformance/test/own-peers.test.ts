import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSuite, runSuite, suiteNames, type TargetSpec } from "../src/index.ts";
import { targets } from "./programs/targets.ts";
import { bundlePeers, expectHolds, patient } from "./support.ts";

const cases = Object.entries(targets).flatMap(([name, start]) =>
  Object.keys(loadSuite(name).role.transports).map((transport) => ({ name, start, transport })),
);

describe("our implementation conforms", () => {
  let bundle: Awaited<ReturnType<typeof bundlePeers>>;
  beforeAll(async () => {
    bundle = await bundlePeers();
  });
  afterAll(() => bundle.remove());

  it("to every suite", () => {
    expect(Object.keys(targets).toSorted()).toEqual(suiteNames().toSorted());
  });

  it.each(cases)("$name over $transport", async ({ name, start, transport }) => {
    const command = `exec '${process.execPath}' '${bundle.path}' ${name}`;
    const target: TargetSpec =
      transport === "stdio"
        ? { kind: "command", command, transport }
        : { kind: "module", start, name, transport };
    expectHolds(await runSuite({ suite: loadSuite(name), target, limits: patient }));
  });
});
