export { type FileStateStoreOptions, openFileStateStore } from "./file-state-store.ts";
