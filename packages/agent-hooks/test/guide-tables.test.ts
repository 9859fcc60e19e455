import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { answers, tables } from "./support/tables.ts";

const guide = new URL("../../../docs/agent-hooks.md", import.meta.url);

it.each(Object.entries(tables()))("the guide has the table of %s that the data gives", (name, table) => {
  const text = readFileSync(guide, "utf8");
  const [, found] = text.split(`<!-- table: ${name} -->\n\n`);
  expect(found?.split("\n\n<!-- end -->")[0]).toBe(table);
});

it("each host gets each decision in the words that it obeys", () => {
  expect(answers()).toBe(readFileSync(new URL("answers.txt", import.meta.url), "utf8"));
});
