import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeWorkspace } from "./support/harness.ts";
import { startHub } from "./support/hub.ts";

it("says that a hub had another policy before, until it is started with one or with none on purpose", async () => {
  const cwd = await makeWorkspace();
  const policy = join(cwd, "own policy.yaml");
  await writeFile(policy, "version: 1\nname: own\nrules: []\n");
  const run = async (...args: string[]) => {
    const { program, client } = await startHub(cwd, args);
    const { formerPolicy } = client.introduction?.hub ?? {};
    await client.close();
    program.kill("SIGTERM");
    const { stderr } = await program.ended;
    return { formerPolicy, isSaid: stderr.includes("careful: this hub had the policy"), stderr };
  };
  expect(await run("--policy", "own policy.yaml")).toMatchObject({ formerPolicy: undefined, isSaid: false });
  for (const _ of [1, 2]) {
    const { formerPolicy, stderr } = await run();
    expect(formerPolicy).toEqual({ file: policy, start: `hub --policy '${policy}'` });
    expect(stderr).toContain(
      `careful: this hub had the policy ${policy} before; now the shipped one decides`,
    );
  }
  expect(await run("--policy", "default")).toMatchObject({ formerPolicy: undefined, isSaid: false });
  expect(await run()).toMatchObject({ formerPolicy: undefined, isSaid: false });
}, 60_000);
