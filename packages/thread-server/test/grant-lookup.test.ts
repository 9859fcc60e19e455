import * as fs from "node:fs/promises";
import { join } from "node:path";
import type { Grant } from "@harnesskit/protocol/threads";
import { digest } from "@harnesskit/wire";
import { expect, it } from "vitest";
import { findGrant } from "../src/find-grant.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { ownDirectory } from "./support/serve.ts";

const thread = { threadId: "ses_1", title: "t", directory: "/", time: { created: 1, updated: 1 } };

const grantOf = async (number: number): Promise<Grant> => {
  const input = { command: `ls ${number}` };
  return {
    grantId: `grant_${number}`,
    scope: "thread",
    threadId: "ses_1",
    directory: "/",
    tool: "bash",
    input,
    digest: await digest({ tool: "bash", input }),
    requestId: "apr_1_1",
    grantedBy: "client-1",
    time: 1,
  };
};

it("takes no file that has another name than its own", async () => {
  const dir = await ownDirectory();
  const store = createFileThreadStore({ root: dir, grantKeyPath: join(dir, "grants.key") });
  const [grant, other] = [await grantOf(1), await grantOf(2)];
  await store.addGrant(grant);
  await store.addGrant(other);
  const grants = join(dir, "grants");
  const [first = "", second = ""] = (await fs.readdir(grants)).sort();
  const text = await fs.readFile(join(grants, first));
  // The whole text of an answer that holds, sealed: under its id alone, and where other answers are looked for.
  for (const name of ["grant_1.json", second, second.replace("grant_2", "grant_1"), `${first}.json`]) {
    await fs.writeFile(join(grants, name), text);
  }
  expect(await findGrant(store, thread, other, () => undefined)).toBeUndefined();
  expect(await store.grants()).toEqual([grant]);
  expect(await findGrant(store, thread, grant, () => undefined)).toEqual(grant);
  expect(await store.removeGrant("grant_1")).toBe(true);
  expect(await store.removeGrant("grant_1")).toBe(false);
  expect(await store.grants()).toEqual([]);
});
