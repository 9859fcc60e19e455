// Walks through the hub's page with three agents of different kinds, and keeps a picture of each step. Usage, with chromium on the PATH:
//   node apps/cli/sessions/hub-page.mjs DIRECTORY
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { hubPlace } from "@harnesskit/hub/place";
import { approve, launchChromium, until } from "./page.mjs";

const file = (path) => fileURLToPath(new URL(path, import.meta.url));
const bin = file("../dist/bin.js");
const pythonAgent = file("../../examples/python-harness/agent.py");
const pictures = resolve(process.argv[2] ?? "hub-page");
const directory = await realpath(await mkdtemp(join(tmpdir(), "hk-")));
const env = { ...process.env, XDG_STATE_HOME: join(directory, "state"), BROWSER: "", NO_COLOR: "1" };
const project = join(directory, "shop");
const started = [];

const start = (command, ...args) => {
  const child = spawn(command, args, { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
  const run = { child, output: "", ended: once(child, "close") };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (run.output += text));
  started.push(run);
  return run;
};
const walk = async (browser) => {
  await mkdir(project, { recursive: true });
  await mkdir(pictures, { recursive: true });
  await writeFile(
    join(project, "price.js"),
    "export const price = (count, each) => {\n  const total = count * each;\n  return total;\n};\n",
  );
  const hub = start(process.execPath, bin, "hub", "--quiet");
  const [, url] = await until(
    () => /page: ((http:\/\/127\.0\.0\.1:\d+)\/#ticket=\S+)/.exec(hub.output),
    "the page",
  );
  const place = hubPlace({ env });
  const context = await browser.newContext({ viewport: { width: 1300, height: 800 }, colorScheme: "light" });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  let count = 0;
  const picture = async (name, { width = 1300, height = 800, colorScheme = "light" } = {}) => {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await sleep(400);
    const excess = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    if (excess > 0) complaints.push(`${name} is ${excess} px too wide`);
    await page.screenshot({ path: join(pictures, `${String(++count).padStart(2, "0")}-${name}.png`) });
  };
  const narrow = { width: 390, height: 844 };
  await page.goto(url);
  await page.getByText("Connected").waitFor();
  await picture("empty");
  const run = start(
    process.execPath,
    bin,
    "run",
    'edit price.js: replace "return total" with "return Math.round(total * 100) / 100"',
  );
  const app = start(process.execPath, file("ai-app.mjs"), place.socket);
  const cards = page.getByRole("list", { name: "Waiting approvals" }).getByRole("listitem");
  await until(async () => (await cards.count()) === 2, "two questions");
  const python = start(
    "python3",
    pythonAgent,
    "--http",
    `${new URL(url).origin}/ahp`,
    place.tokenFile,
    "cp price.js price.backup.js",
  );
  await until(async () => (await cards.count()) === 3, "three questions");
  await cards.filter({ hasText: "python" }).first().click();
  await picture("command");
  await approve(page, "python");
  await cards.filter({ hasText: "harness" }).first().click();
  await picture("edit");
  await picture("edit-dark", { colorScheme: "dark" });
  await picture("edit-narrow", narrow);
  await page.getByRole("button", { name: "Close" }).click();
  await picture("inbox-narrow", narrow);
  await page.setViewportSize({ width: 1300, height: 800 });
  await approve(page, "harness");
  await cards.filter({ hasText: "deploy-app" }).first().click();
  await picture("input");
  await approve(page, "deploy-app");
  await Promise.all([run.ended, app.ended, python.ended]);
  await page.getByRole("button", { name: "Close" }).click();
  const timeline = page.getByRole("region", { name: "Timeline", exact: true });
  await picture("timeline", { height: 1090 });
  await picture("timeline-dark", { colorScheme: "dark" });
  await page.setViewportSize({ width: 1300, height: 800 });
  await timeline.locator("a.row").filter({ hasText: "edit" }).first().click();
  await picture("row");
  await page.goto(`${new URL(url).origin}/#/timeline`);
  await picture("timeline-narrow", { ...narrow, colorScheme: "dark" });
  for (const name of ["agents", "policy"]) {
    await page.goto(`${new URL(url).origin}/#/${name}`);
    await sleep(400);
    await picture(name);
  }
  const said = await readFile(join(project, "price.js"), "utf8");
  if (!said.includes("Math.round")) complaints.push("the edit was not done");
  process.stdout.write(`${[run, app, python].map(({ output }) => output).join("\n---\n")}\n`);
  if (complaints.length > 0) throw new Error(complaints.join("\n"));
};

const browser = await launchChromium();
try {
  await walk(browser);
} finally {
  await browser.close();
  for (const { child } of started) child.kill("SIGTERM");
  await Promise.all(started.map(({ ended }) => ended));
  await rm(directory, { recursive: true, force: true });
}
