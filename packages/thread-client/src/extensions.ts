import type { ThreadCapabilities, ThreadMethodName } from "@harnesskit/protocol/threads";

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

/** The extension without which a server does not know the method. */
export const extensionOf: { readonly [M in ThreadMethodName]?: ThreadExtension } = {
  "thread.subscribe": "subscribe",
  "thread.delete": "delete",
  "thread.rename": "rename",
  "thread.archive": "archive",
  "thread.unarchive": "archive",
  "thread.fork": "fork",
  "thread.search": "search",
  "thread.compact": "compact",
  "queue.list": "queue",
  "grant.list": "grants",
  "grant.revoke": "grants",
};

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
