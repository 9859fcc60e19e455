export { createDirectoryResolver } from "./directory-resolver.ts";
export { createFileThreadStore, type FileThreadStoreOptions } from "./file-thread-store.ts";
export { isDead, type LockOwner, readLock } from "./thread-lock.ts";
