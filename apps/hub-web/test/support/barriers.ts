import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const path = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Expects that axe finds nothing against the page as it is: names, roles, contrast, structure. */
export const expectNoBarriers = async (page: Page): Promise<void> => {
  // Not as a script of the page: its policy allows none but its own.
  await page.evaluate(await readFile(path, "utf8"));
  const violations = await page.evaluate(async () => {
    const { axe } = window as never as { axe: { run(): Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
  expect(found).toEqual([]);
};
