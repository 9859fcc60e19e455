import { defineOptions } from "@harnesskit/wire";
import type { PostgresStoreOptions } from "./store-options.ts";

export const checkPostgresStoreOptions = defineOptions<PostgresStoreOptions>("openPostgresStore", {
  url: true,
  listenUrl: false,
  schema: false,
  tls: false,
  migrate: { apply: true, check: true },
  approvals: false,
  limits: false,
  clock: false,
  onError: false,
});
