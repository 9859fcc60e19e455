// Writes schema/<name>.json from the zod sources, so that other languages validate against the same rules.
import { mkdirSync, writeFileSync } from "node:fs";
import { publishedDocuments } from "./dist/published-documents.js";

mkdirSync(new URL("./schema/", import.meta.url), { recursive: true });
for (const [name, document] of Object.entries(publishedDocuments())) {
  writeFileSync(new URL(`./schema/${name}.json`, import.meta.url), `${JSON.stringify(document, null, 2)}\n`);
}
