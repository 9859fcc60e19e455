import type pg from "pg";
import type { ResolvedOptions } from "./store-options.ts";

/** What every connection has: how it is reached, and its name on the server. */
export const clientConfig = ({ tls }: Pick<ResolvedOptions, "tls">, url: string): pg.ClientConfig => ({
  connectionString: url,
  ssl: tls,
  keepAlive: true,
  application_name: "harnesskit",
});
