// Writes schema/policy.json from the zod source, so that editors check a policy as it is typed, and the value of the shipped
// policy, so that a program that starts under it need not read YAML.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";
import { PolicyFileSchema, policyJsonSchema } from "./dist/index.js";

mkdirSync(new URL("./schema/", import.meta.url), { recursive: true });
writeFileSync(
  new URL("./schema/policy.json", import.meta.url),
  `${JSON.stringify(policyJsonSchema(), null, 2)}\n`,
);

const text = readFileSync(new URL("./policies/coding-agent.yaml", import.meta.url), "utf8");
const digest = createHash("sha256").update(text).digest("hex");
const value = PolicyFileSchema.parse(parse(text));
// Programs that start under it do not load the engine of patterns.
if (/\bmatches\(/.test(text)) throw new Error("the shipped policy must have no patterns");
writeFileSync(new URL("./dist/coding-agent.json", import.meta.url), `${JSON.stringify({ digest, value })}\n`);
