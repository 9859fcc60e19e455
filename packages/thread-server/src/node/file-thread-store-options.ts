import type { FileLockOwner } from "@harnesskit/node-kit";
import { defineOptions } from "@harnesskit/wire";
import type { ThreadStoreError } from "../errors.ts";
import type { StoreFileSystem } from "./store-directory.ts";

export interface FileThreadStoreOptions {
  /** The `.harness` directory; made when the first thread is. */
  readonly root: string;
  /** @default `node:fs/promises`, opening no file but regular ones */
  readonly fileSystem?: StoreFileSystem | undefined;
  /**
   * The user's key that seals `always` answers; made with the first one. It must not lie in the workspace.
   * @default `harnesskit/grants.key` in `$XDG_STATE_HOME` or `~/.local/state`
   */
  readonly grantKeyPath?: string | undefined;
  /** Whether the owner of a lock is proved dead. @default looks at the process, on this host only */
  readonly isOwnerDead?: ((owner: FileLockOwner) => boolean) | undefined;
  /** Requests with a `clientRequestId` that are remembered, deleted threads included; the oldest go first. @default 1000 */
  readonly maxRequests?: number | undefined;
  /**
   * Receives the error of a thread whose files cannot be read, and that a list leaves out; what it throws is ignored. @default ignores it
   */
  readonly onError?: ((error: ThreadStoreError, context: { readonly threadId: string }) => void) | undefined;
}

export const checkFileThreadStoreOptions = defineOptions<FileThreadStoreOptions>("createFileThreadStore", {
  root: true,
  fileSystem: false,
  grantKeyPath: false,
  isOwnerDead: false,
  maxRequests: false,
  onError: false,
});
