import { describe, expect, it } from "vitest";
import { isNightly } from "../../test-kit/nightly.ts";
import { sourceBundle } from "../../test-kit/source-bundle.ts";
import { loadSuite, runSuite, suiteNames, type TargetSpec } from "../src/index.ts";
import { TransportSchema } from "../src/scenario/step-schema.ts";
import { targets } from "./programs/targets.ts";
import { expectHolds, patient } from "./support.ts";

const cases = Object.entries(targets).flatMap(([name, start]) =>
  TransportSchema.options
    .filter((transport) => transport in loadSuite(name).role.transports)
    .slice(0, isNightly ? undefined : 1)
    .map((transport) => ({ name, start, transport })),
);

describe("our implementation conforms", () => {
  it("to every suite", () => {
    expect(Object.keys(targets).toSorted()).toEqual(suiteNames().toSorted());
  });

  it.each(cases)("$name over $transport", async ({ name, start, transport }) => {
    const peers = await sourceBundle(new URL("./programs/peers.ts", import.meta.url));
    const command = `exec '${process.execPath}' '${peers}' ${name}`;
    const target: TargetSpec =
      transport === "stdio"
        ? { kind: "command", command, transport }
        : { kind: "module", start, name, transport };
    expectHolds(await runSuite({ suite: loadSuite(name), target, limits: patient }));
  });
});
