import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { jsonSchemaOf } from "../src/scenario/suite-schema.ts";

describe("the published JSON Schema", () => {
  it.each(["scenario", "suite"] as const)("of a %s is that of the reader", (kind) => {
    const file = new URL(`../schema/${kind}.schema.json`, import.meta.url);
    const schema = `${JSON.stringify(jsonSchemaOf(kind), null, 2)}\n`;
    if (process.env.UPDATE_SCHEMA === "1") writeFileSync(file, schema);
    expect(readFileSync(file, "utf8")).toBe(schema);
  });
});
