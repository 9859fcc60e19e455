import type { ThreadCapabilities } from "@harnesskit/protocol/threads";

/** What a server may announce in `capabilities.extensions`, beside the spec. */
export type ThreadExtension =
  | "subscribe"
  | "paging"
  | "clientRequestId"
  | "delete"
  | "grants"
  | "approvalResolved"
  | "itemUpdated"
  | "rename"
  | "archive"
  | "fork"
  | "queue"
  | "search"
  | "compact";

/** True for an extension in the first version, which is the one that this client knows. A later one keeps what it had. */
const isAnnounced = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return value === true;
  const { version } = value as { readonly version?: unknown };
  return typeof version === "number" && version >= 1;
};

export const hasExtension = ({ extensions }: ThreadCapabilities, name: ThreadExtension): boolean =>
  typeof extensions === "object" &&
  extensions !== null &&
  isAnnounced((extensions as Readonly<Record<string, unknown>>)[name]);
