// Writes schema/<name>.json from the zod sources, so that other languages validate against the same rules.
import { mkdirSync, writeFileSync } from "node:fs";
import * as ahp from "./dist/ahp.js";
import * as chat from "./dist/chat.js";
import * as envelope from "./dist/envelope.js";
import * as hub from "./dist/hub.js";
import * as openharness from "./dist/openharness.js";
import * as runtime from "./dist/runtime.js";
import * as threads from "./dist/threads.js";
import { publishedDocuments } from "./published-documents.mjs";

mkdirSync(new URL("./schema/", import.meta.url), { recursive: true });
for (const [name, document] of Object.entries(
  publishedDocuments({ envelope, threads, runtime, ahp, chat, openharness, hub }),
)) {
  writeFileSync(new URL(`./schema/${name}.json`, import.meta.url), `${JSON.stringify(document, null, 2)}\n`);
}
