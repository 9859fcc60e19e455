// Writes schema/policy.json from the zod source, so that editors check a policy as it is typed.
import { mkdirSync, writeFileSync } from "node:fs";
import { policyJsonSchema } from "./dist/index.js";

mkdirSync(new URL("./schema/", import.meta.url), { recursive: true });
writeFileSync(
  new URL("./schema/policy.json", import.meta.url),
  `${JSON.stringify(policyJsonSchema(), null, 2)}\n`,
);
