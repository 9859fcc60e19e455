#!/usr/bin/env node
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { findChromium } from "./lib/find-chromium.mjs";
import { repositoryRoot } from "./lib/root.mjs";

// node scripts/record-hub-page.mjs: takes the pictures of the hub's page for the docs, with agents that really run (needs chromium and a build).

const harness = join(repositoryRoot, "apps/cli/dist/bin.cjs");
const root = mkdtempSync(join(tmpdir(), "harness-picture-"));
const env = { PATH: process.env.PATH, HOME: root, XDG_STATE_HOME: join(root, "state") };
const children = [];

const workspace = (name, files) => {
  const path = join(root, name);
  mkdirSync(path);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return path;
};

const start = (args, cwd) => {
  const child = spawn(process.execPath, [harness, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  return child;
};

/** The address of the page, which the hub prints on standard error. */
const pageOf = async (hub) => {
  let text = "";
  for await (const chunk of hub.stderr) {
    text += chunk;
    const [, url] = /page: (\S+)/.exec(text) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`the hub did not start: ${text}`);
};

const found = findChromium();
if (found === undefined) throw new Error("Install chromium first");
const browser = await chromium.launch(found);
try {
  const shop = workspace("shop", { "price.js": "export const price = (total) => {\n  return total;\n};\n" });
  const site = workspace("site", { "README.md": "# Site\n\nThe pages of the shop.\n" });
  const url = await pageOf(start(["hub"], root));
  const done = start(["run", "read README.md"], site);
  await once(done, "close");
  const page = await browser.newPage({ viewport: { width: 1300, height: 800 } });
  await page.goto(url);
  start(["run", "run the command: git push origin main"], site);
  await page.getByText("git push origin main").first().waitFor();
  start(["run", 'edit price.js: replace "return total" with "return Math.round(total * 100) / 100"'], shop);
  const question = page.getByRole("link", { name: /change price.js/ }).first();
  await question.waitFor();
  await page.screenshot({ path: join(repositoryRoot, "docs/public/hub-page-timeline.png") });
  await question.click();
  // The buttons can be pressed a moment after a question is shown.
  await page.getByRole("button", { name: "Approve once" }).click({ trial: true });
  await page.screenshot({ path: join(repositoryRoot, "docs/public/hub-page-approval.png") });
} finally {
  await browser.close();
  for (const child of children) child.kill();
  await Promise.all(
    children
      .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
      .map((child) => once(child, "close")),
  );
  rmSync(root, { recursive: true, force: true });
}
