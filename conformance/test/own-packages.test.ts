import { afterAll, beforeAll, describe, it } from "vitest";
import { isNightly } from "../../scripts/lib/nightly.ts";
import { loadSuite, type ModuleTarget, runSuite, suiteNames, type TargetSpec } from "../src/index.ts";
import { targets } from "./programs/targets.ts";
import { bundlePeers, expectHolds, patient } from "./support.ts";

/** Every role of ours with every transport that it has; TCP, which has another address than a Unix socket alone, nightly. */
const runs = suiteNames().flatMap((name) =>
  Object.keys(loadSuite(name).role.transports)
    .filter((transport) => isNightly || transport !== "tcp")
    .map((transport) => ({ name, transport })),
);

describe("our package conforms", () => {
  let bundle: Awaited<ReturnType<typeof bundlePeers>>;
  beforeAll(async () => {
    bundle = await bundlePeers();
  });
  afterAll(() => bundle.remove());

  const targetOf = (name: string, transport: string): TargetSpec => {
    const command = `exec '${process.execPath}' '${bundle.path}' ${name}`;
    if (transport === "stdio") return { kind: "command", command, transport };
    const start = targets[name] as ModuleTarget["start"];
    return { kind: "module", start, name, transport: transport as ModuleTarget["transport"] };
  };

  it.each(runs)("$name over $transport", async ({ name, transport }) => {
    const report = await runSuite({
      suite: loadSuite(name),
      target: targetOf(name, transport),
      limits: patient,
    });
    expectHolds(report);
  });
});
