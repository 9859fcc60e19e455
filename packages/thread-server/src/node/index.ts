export { createDirectoryResolver } from "./directory-resolver.ts";
export { createFileThreadStore } from "./file-thread-store.ts";
export type { FileThreadStoreOptions } from "./file-thread-store-options.ts";
