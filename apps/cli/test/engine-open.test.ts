import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { complaintsOf, launchChromium, needChromium, openContext } from "../../../test-kit/chromium.ts";
import { until } from "../../../test-kit/test-kit.ts";
import { makeWorkspace } from "./support/harness.ts";
import { startHarness } from "./support/in-process.ts";

it("opens a page that talks with the engine, by a link that is valid once and has no token", async (test) => {
  needChromium(test);
  const cwd = await makeWorkspace();
  const opened = join(cwd, "opened");
  // In the place of a browser: it keeps the link.
  const program = join(cwd, "keeps-link");
  await writeFile(program, `#!/bin/sh\nprintf %s "$1" > ${opened}\n`);
  await chmod(program, 0o755);
  const env = { XDG_STATE_HOME: join(cwd, "state"), BROWSER: program };
  const engine = startHarness(["engine", "--open"], { cwd, env });
  await engine.reports(/page: http:\/\/127\.0\.0\.1:\d+\/#ticket=/);
  const read = () => readFile(opened, "utf8").catch(() => "");
  await until(async () => (await read()) !== "", "the browser was started");
  const link = await read();
  const tokenFile = /^harness engine: token in (.+)$/m.exec(engine.stderr)?.[1] ?? "";
  const token = (await readFile(tokenFile, "utf8")).trim();
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#ticket=[\w-]{43}$/);
  expect(link + engine.stderr).not.toContain(token);

  const browser = await launchChromium();
  onTestFinished(() => browser?.close());
  if (browser === undefined) return;
  const page = await (await openContext(browser)).newPage();
  const complaints = complaintsOf(page);
  await page.goto(link);
  const field = page.getByLabel("Your message");
  await field.fill("write notes.txt: milk");
  await field.press("Enter");
  const approve = page.getByRole("button", { name: "Approve" });
  await expect.poll(() => approve.isEnabled()).toBe(true);
  await approve.click();
  await page.getByText("You approved this.").waitFor();
  await until(async () => (await readFile(join(cwd, "notes.txt"), "utf8").catch(() => "")).includes("milk"));
  expect(page.url()).not.toContain("ticket");
  expect(complaints).toEqual([]);

  // The ticket is used: neither another browser nor another program gets the token for it.
  const origin = new URL(link).origin;
  const body = new URL(link).hash.slice("#ticket=".length);
  const again = await fetch(`${origin}/page/session`, { method: "POST", body });
  expect(again.status).toBe(401);
  const other = await (await openContext(browser)).newPage();
  await other.goto(link);
  await other.getByText("This link was used before, or is too old").waitFor();
});
