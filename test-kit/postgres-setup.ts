import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openPostgres, type PostgresServer } from "../scripts/lib/postgres.mjs";

declare module "vitest" {
  interface ProvidedContext {
    /** A Unix socket that tells the URL of a PostgreSQL server in which tests may make schemas and databases. */
    readonly postgresSocket: string;
  }
}

/** The first worker that asks for a PostgreSQL server has it started, for all. Returns what ends it. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  const told = createServer((socket) => {
    server ??= openPostgres();
    server.then(
      ({ url }) => socket.end(url),
      (error) => socket.destroy(error),
    );
  });
  const path = join(project.config.env.HARNESS_TEST_RUN as string, "postgres.sock");
  told.listen(path);
  await once(told, "listening");
  project.provide("postgresSocket", path);
  return async () => {
    told.close();
    await (await server)?.end();
  };
}
