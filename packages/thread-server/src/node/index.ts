export { createDirectoryResolver } from "./directory-resolver.ts";
export { createFileThreadStore, type FileThreadStoreOptions } from "./file-thread-store.ts";
export type { StoreFileSystem } from "./store-file-system.ts";
