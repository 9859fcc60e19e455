export { openFileStateStore } from "./file-state-store.ts";
