import type { ThreadCapabilities } from "@harnesskit/protocol/threads";
import { UnsupportedError } from "./errors.ts";

/** What a server may announce in `capabilities.extensions`, beside the spec. */
export type ThreadExtension =
  | "subscribe"
  | "paging"
  | "clientRequestId"
  | "delete"
  | "grants"
  | "approvalResolved";

export const hasExtension = ({ extensions }: ThreadCapabilities, name: ThreadExtension): boolean =>
  typeof extensions === "object" &&
  extensions !== null &&
  (extensions as Readonly<Record<string, unknown>>)[name] === true;

/** Throws `unsupported` when the server did not announce the extension. */
export const requireExtension = (
  capabilities: ThreadCapabilities,
  name: ThreadExtension,
  method: string,
): void => {
  if (!hasExtension(capabilities, name)) throw new UnsupportedError(method, name);
};
