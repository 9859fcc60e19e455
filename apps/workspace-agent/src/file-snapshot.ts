import type { BigIntStats } from "node:fs";
import { ToolError } from "@harnesskit/agent-sdk";
import { sha256Digest } from "@harnesskit/node-kit";
import { readAtMost } from "./read-bytes.ts";
import { openRegularFile } from "./safe-open.ts";
import type { Workspace } from "./workspace.ts";

/** A file that is there. */
export interface PresentFile {
  readonly exists: true;
  /** Stands for the content: equal for two snapshots of the same content. */
  readonly state: string;
  /** Stands for the file itself: differs as soon as anything about it was touched. */
  readonly identity: string;
  readonly mode: number;
  readonly owner: { readonly uid: number; readonly gid: number };
  readonly sizeBytes: number;
  /** The content; left out if it is larger than was asked for. */
  readonly content?: Buffer | undefined;
}

/** What is at a path at one moment. */
export type FileSnapshot = PresentFile | { readonly exists: false; readonly state: "absent" };

/**
 * Looks at a canonical path: the content of a regular file up to `maxBytes`, or that nothing is there.
 * Throws `ToolError` for anything else, such as `tool.not_a_file`.
 */
export async function takeSnapshot(
  workspace: Workspace,
  path: string,
  maxBytes: number,
): Promise<FileSnapshot> {
  const handle = await openRegularFile(workspace, path).catch((error: unknown) => {
    if (ToolError.isInstance(error) && error.code === "tool.not_found") return undefined;
    throw error;
  });
  if (handle === undefined) return { exists: false, state: "absent" };
  try {
    const found = await handle.stat({ bigint: true });
    const content = await readAtMost(handle, maxBytes);
    const identity = identityOf(found);
    return {
      exists: true,
      state: content === undefined ? `file:${identity}` : sha256Digest(content),
      identity,
      mode: Number(found.mode & 0o777n),
      owner: { uid: Number(found.uid), gid: Number(found.gid) },
      sizeBytes: content?.length ?? Number(found.size),
      content,
    };
  } finally {
    await handle.close();
  }
}

/** The identity of a file by what the system says about it. */
export const identityOf = (found: BigIntStats): string =>
  [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(":");
