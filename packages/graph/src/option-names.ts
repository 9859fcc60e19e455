import { defineOptions } from "@harnesskit/wire";
import type { MemoryStoreOptions } from "./stores/memory-store.ts";

export const checkMemoryStoreOptions = defineOptions<MemoryStoreOptions>("createMemoryStore", {
  limits: false,
  clock: false,
});
