import type { TestProject } from "vitest/node";
import { openPostgres } from "../scripts/lib/postgres.mjs";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of a PostgreSQL server in which tests may make schemas and databases. */
    readonly postgresUrl: string;
  }
}

/** Opens a PostgreSQL server for the projects that need one, once for all their files. Returns what ends it. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { url, end } = await openPostgres();
  project.provide("postgresUrl", url);
  return end;
}
