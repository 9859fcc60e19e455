import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { root } from "./support.ts";

const tables: { withMessageTables(markdown: string): string } = await import(
  pathToFileURL(join(root, "scripts/lib/site/message-tables.mjs")).href
);

it("explains each type that the page of messages names", () => {
  const page = tables.withMessageTables(readFileSync(join(root, "docs/protocols.md"), "utf8"));
  expect(page).not.toContain("<!--");
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap(
    (row) => row.replaceAll(/"[^"]*"/g, "").match(/(?<![\w.$-])[A-Z][a-zA-Z]+\b/g) ?? [],
  );
  const explained = new Set(
    Array.from(page.matchAll(/^(?:\| `|### )([A-Z][a-zA-Z]+)/gm), ([, name]) => name),
  );
  const missing = [...new Set(named)].filter((name) => !explained.has(name));
  expect(missing.toSorted()).toEqual(["JsonObject", "JsonValue"]);
  expect(page).toContain("harness_info: { name: string, version: string, capabilities: string[] }");
});
