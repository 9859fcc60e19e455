import type { CreateId } from "@harnesskit/wire";

/** Makes the id of an approval. It names its thread, so that a later server finds the question by its id alone. */
export const newRequestId = (threadId: string, createId: CreateId): string =>
  createId(`apr_${threadId.slice(threadId.indexOf("_") + 1)}`);

/** The thread that an approval's id names, or undefined for an id that no server has made up. */
export const threadOfRequest = (requestId: string): string | undefined => {
  const [, thread] = /^apr_([A-Za-z0-9]{1,64})_[A-Za-z0-9]{1,64}$/.exec(requestId) ?? [];
  return thread && `ses_${thread}`;
};
