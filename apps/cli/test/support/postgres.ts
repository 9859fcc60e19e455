import { randomBytes } from "node:crypto";
import { openPostgresStore } from "@harnesskit/store-postgres";
import { onTestFinished } from "vitest";
import { postgresUrl as url } from "../../../../test-kit/postgres.ts";

/** A schema of its own, as the environment of a command. */
export const newSchema = () => {
  const schema = `cli_${randomBytes(6).toString("hex")}`;
  onTestFinished(async () => {
    const store = await openPostgresStore({ url, schema });
    await store.close();
  });
  const env = { HARNESS_STORE: `${url}${url.includes("?") ? "&" : "?"}schema=${schema}` };
  return { url, schema, env };
};
