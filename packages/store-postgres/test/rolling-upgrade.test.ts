import { readFile, writeFile } from "node:fs/promises";
import { beforeAll, expect, it, vi } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { startToldProcess } from "../../../test-kit/told-process.ts";
import { migrationSteps } from "../src/migrations/index.ts";
import { event, readAll, thread } from "./support/samples.ts";
import { newSchema } from "./support/schema.ts";

const newest = migrationSteps.length;
const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));
const nextPath = bundle.replace(".mjs", "-next.mjs");

beforeAll(async () => {
  // A build of the next version: it knows one step more.
  const text = await readFile(bundle, "utf8");
  const step = `{ version: ${newest + 1}, sql: "ALTER TABLE store.sessions ADD COLUMN note text", worksWith: 1 }`;
  const next = text.replace(
    new RegExp(`\\{\\s*version: ${newest},[^]*?worksWith: \\d+\\s*\\}`),
    `$&, ${step}`,
  );
  expect(next.length).toBeGreaterThan(text.length);
  await writeFile(nextPath, next);
});

it("version N and N+1 write side by side while the schema is migrated, and N starts again after it", async () => {
  await using schema = await newSchema();
  const start = (path: string) =>
    startToldProcess(
      new URL("./fixtures/worker.mjs", import.meta.url),
      ...[path, schema.url, schema.schema, JSON.stringify({ threadLeaseMs: 3000 })],
    );
  const versions = async () =>
    (await schema.run("SELECT max(version) AS version FROM store.migrations"))[0]?.version as number;
  const turn = async (worker: Awaited<ReturnType<typeof start>>, sessionId: string) =>
    (await worker.call("invoke", { sessionId, initial: { messages: ["may I?"] } })).result as {
      outcome: string;
      id: string;
    };

  await using old = await start(bundle);
  expect(await versions()).toBe(newest);
  // The old program writes all the time.
  const paused = await turn(old, "old");
  const writing = turn(old, "old-2");
  await using next = await start(nextPath);
  expect(await versions()).toBe(newest + 1);
  expect((await writing).outcome).toBe("suspended");

  // What one version has paused, the other resumes; both go on to write the same tables.
  const resumed = await next.call("invoke", { resumeInvocation: paused.id, signalPayload: {} });
  expect(resumed.result).toMatchObject({ outcome: "completed" });
  const asked = await turn(next, "new");
  const answered = await old.call("invoke", { resumeInvocation: asked.id, signalPayload: {} });
  expect(answered.result).toMatchObject({ outcome: "completed" });

  // A thread goes from the old program to the new one and back to an old one that starts after the migration.
  const store = await schema.open();
  await store.threads.create(thread("ses_1"));
  await old.call("leaseThread", "ses_1");
  expect((await old.call("append", "ses_1", [event("ses_1", 1)])).code).toBeUndefined();
  await old.kill();
  const lease = (worker: Awaited<ReturnType<typeof start>>) =>
    vi.waitFor(async () => expect((await worker.call("leaseThread", "ses_1")).code).toBeUndefined(), {
      timeout: 15_000,
    });
  await lease(next);
  expect((await next.call("append", "ses_1", [event("ses_1", 2)])).code).toBeUndefined();
  await next.kill();
  await using again = await start(bundle);
  await lease(again);
  expect((await again.call("append", "ses_1", [event("ses_1", 3)])).code).toBeUndefined();
  expect((await readAll(store.threads.events("ses_1"))).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(await versions()).toBe(newest + 1);
});
