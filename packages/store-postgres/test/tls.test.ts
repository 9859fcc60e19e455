import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { certificate, hasPgbouncer, startPgbouncer } from "./support/pgbouncer.ts";
import { event, readAll, thread } from "./support/samples.ts";
import { newSchema } from "./support/schema.ts";

it("a server that demands TLS is used with the option or the URL, and not where its certificate is not trusted", async ({
  skip,
}) => {
  if (!hasPgbouncer) skip("pgbouncer is not installed (Debian: apt-get install pgbouncer)");
  await using schema = await newSchema();
  await using pooler = await startPgbouncer(schema.url, { tls: true });
  const ca = await readFile(certificate, "utf8");
  const limits = { maxAttempts: 1 };
  const { threads } = await schema.open({ url: pooler.url, tls: { ca } });
  await threads.create(thread("ses_1"));
  await threads.lease("ses_1");
  await threads.append("ses_1", [event("ses_1", 1)], { flush: true });
  expect(await readAll(threads.events("ses_1"))).toHaveLength(1);
  const url = new URL(pooler.url);
  url.searchParams.set("sslmode", "verify-full");
  url.searchParams.set("sslrootcert", certificate.pathname);
  const other = await schema.open({ url: url.href });
  expect(await other.threads.list()).toHaveLength(1);
  const unavailable = { name: "StoreError", code: "store_failed", reason: "unavailable" };
  await expect(schema.open({ url: pooler.url, tls: true, limits })).rejects.toMatchObject(unavailable);
  // Without TLS, the server refuses.
  await expect(schema.open({ url: pooler.url, limits })).rejects.toMatchObject({ name: "StoreError" });
});
