import type { ProtocolDocument, SchemaDocument } from "./schema-documents.mjs";
import type * as ahp from "./src/ahp/index.ts";
import type * as chat from "./src/chat/index.ts";
import type * as envelope from "./src/envelope/index.ts";
import type * as hub from "./src/hub/index.ts";
import type * as openharness from "./src/openharness/index.ts";
import type * as runtime from "./src/runtime/index.ts";
import type * as threads from "./src/threads/index.ts";

/** Makes every JSON Schema document that is published, by its name, from the protocols' entries. */
export const publishedDocuments: (entries: {
  readonly envelope: typeof envelope;
  readonly threads: typeof threads;
  readonly runtime: typeof runtime;
  readonly ahp: typeof ahp;
  readonly chat: typeof chat;
  readonly openharness: typeof openharness;
  readonly hub: typeof hub;
}) => {
  readonly envelope: ProtocolDocument;
  readonly threads: ProtocolDocument;
  readonly runtime: ProtocolDocument;
  readonly ahp: ProtocolDocument;
  readonly chat: ProtocolDocument;
  readonly openharness: ProtocolDocument;
  readonly hub: ProtocolDocument;
  readonly "agent-manifest": SchemaDocument;
};
