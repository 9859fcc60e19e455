import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of a PostgreSQL server in which tests may make schemas and databases. */
    readonly postgresUrl: string;
  }
}

const supervisor = fileURLToPath(new URL("./postgres-supervisor.mjs", import.meta.url));

/**
 * Starts a PostgreSQL server for the projects that need one, once for all their files; with `HARNESS_TEST_POSTGRES` they use
 * the server of that URL. Returns what stops it.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.HARNESS_TEST_POSTGRES;
  if (given) {
    project.provide("postgresUrl", given);
    return async () => {};
  }
  // Detached: a signal to the test run's process group ends the run, and the end of the pipe ends the server.
  const child = spawn(process.execPath, [supervisor], {
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const line = once(createInterface({ input: child.stdout }), "line");
  const [text] = await Promise.race([line, exited.then(() => [undefined])]);
  if (typeof text !== "string") throw new Error("PostgreSQL for tests did not start: see above");
  project.provide("postgresUrl", (JSON.parse(text) as { readonly url: string }).url);
  return async () => {
    child.stdin.end();
    await exited;
  };
}
