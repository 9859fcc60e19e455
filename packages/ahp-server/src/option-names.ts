import { defineOptions } from "@harnesskit/wire";
import type { FileStateStoreOptions } from "./node/file-state-store.ts";
import type { AhpServerOptions } from "./server-options.ts";

export const checkAhpServerOptions = defineOptions<AhpServerOptions<unknown>>("createAhpServer", {
  handlers: true,
  name: true,
  version: true,
  limits: false,
  handlerTimeoutMs: false,
  capabilities: false,
  stateStore: false,
  audit: false,
  principalOf: false,
  onHandshake: false,
  onError: false,
  clock: false,
});

export const checkFileStateStoreOptions = defineOptions<FileStateStoreOptions>("openFileStateStore", {
  path: true,
});
