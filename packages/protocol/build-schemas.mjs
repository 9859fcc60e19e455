// Writes schema/<protocol>.json from the zod sources, so that other languages validate against the same rules.
import { mkdirSync, writeFileSync } from "node:fs";
import * as envelope from "./dist/envelope.js";
import * as threads from "./dist/threads.js";
import { schemaDocuments } from "./schema-documents.mjs";

const documents = schemaDocuments({
  envelope: { title: "JSON-RPC 2.0 messages", module: envelope },
  threads: {
    title: "The thread protocol",
    module: threads,
    methods: threads.threadMethods,
    notifications: threads.threadNotifications,
  },
});

mkdirSync(new URL("./schema/", import.meta.url), { recursive: true });
for (const [name, document] of Object.entries(documents)) {
  writeFileSync(new URL(`./schema/${name}.json`, import.meta.url), `${JSON.stringify(document, null, 2)}\n`);
}
