// Writes the JSON Schemas of suite and scenario files, which editors complete and check them by: part of the build.
import { writeFileSync } from "node:fs";
import { jsonSchemaOf } from "./dist/index.js";

for (const kind of ["suite", "scenario"]) {
  const file = new URL(`./schema/${kind}.schema.json`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(jsonSchemaOf(kind), null, 2)}\n`);
}
