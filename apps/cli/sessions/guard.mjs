// Records a session: real Claude Code, Codex, Gemini CLI and Copilot CLI under the guard, against a scripted model. Usage, with all and chromium on the PATH:
//   node apps/cli/sessions/guard.mjs > docs/sessions/guard.md
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findHost } from "@harnesskit/agent-hooks";
import { runnableHosts, runProgram, startScriptedModel } from "@harnesskit/guard/doctor";
import { findHostProgram } from "@harnesskit/guard/settings";
import { createHubClient } from "@harnesskit/hub/client";
import { hubPlace } from "@harnesskit/hub/place";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { chromium } from "playwright-core";
import { findChromium } from "../../../scripts/lib/find-chromium.mjs";

const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const root = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const directory = await realpath(await mkdtemp(join(tmpdir(), "hk-")));
const [home, project, remote] = ["home", "project", "remote.git"].map((name) => join(directory, name));
const place = hubPlace({ state: join(home, ".local", "state", "harnesskit", "hub") });
const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: "1", GIT_CONFIG_NOSYSTEM: "1" };
const started = [];

const start = (command, args, cwd = project) => {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const run = { child, output: "", ended: once(child, "close") };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (run.output += text));
  started.push(child);
  return run;
};
const run = async (command, args, cwd) => {
  const one = start(command, args, cwd);
  const [code] = await one.ended;
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}: ${one.output}`);
  return one.output;
};
const shown = (text) =>
  text
    .replaceAll(home, "~")
    .replaceAll(project, "~/project")
    .replaceAll(process.execPath, "/usr/bin/node")
    .replaceAll(root, "/opt/harness")
    .replace(/#ticket=\S+/g, "#ticket=…")
    .trimEnd();
const say = (text) => process.stdout.write(`${text}\n`);
const show = (command, output) => say(`\`\`\`console\n$ ${command}\n${shown(output)}\n\`\`\`\n`);
const harness = async (...args) =>
  show(["harness", ...args].join(" "), await run(process.execPath, [bin, ...args]));

/** Waits for a minute. */
const until = async (found, what) => {
  for (let round = 0; round < 1200; round++) {
    const value = await found();
    if (value) return value;
    await sleep(50);
  }
  throw new Error(`${what} did not come`);
};

/** Answers what an agent asks, as a user does: reads to the end, then approves. */
const approve = async (page, agent) => {
  const inbox = page.getByRole("region", { name: "Inbox" });
  await inbox.getByRole("listitem").filter({ hasText: agent }).first().click();
  const body = page.getByLabel("What will be done");
  const button = page.getByRole("button", { name: "Approve once" });
  await until(async () => {
    await body.evaluate((element) => element.scrollBy({ top: element.clientHeight }));
    return (await button.count()) === 1 && (await button.isEnabled());
  }, "the button");
  await button.click();
};

const startHub = async () => {
  const hub = start(process.execPath, [bin, "hub"]);
  await until(() => hub.output.includes("approvals: "), "the hub");
  return hub;
};
const clientOf = async () => {
  const transport = createUnixTransport({ path: place.apiSocket, framing: "newline" });
  const client = createHubClient({ transport, client: { name: "recorder" }, reconnect: false });
  await client.connect();
  return client;
};
const pendingOf = async (client) => (await client.call("inbox.list", { status: "pending" })).records;

/** Gemini CLI as an ACP agent behind the guard, with a hand-written editor. Its hooks are not in place: the proxy alone judges. */
const acpRun = async (client) => {
  const model = await startScriptedModel(async ({ length }) =>
    length === 0 ? { command: push } : length === 1 ? { command: publishBy("acp") } : { say: "done" },
  );
  const acpHome = join(directory, "acp-home");
  await mkdir(join(acpHome, ".gemini"), { recursive: true });
  const settings = { security: { auth: { selectedType: "gemini-api-key" } } };
  await writeFile(join(acpHome, ".gemini", "settings.json"), JSON.stringify(settings));
  const gemini = await findHostProgram(findHost("gemini-cli"), process.env);
  const words = [gemini, "--acp", "--skip-trust", "-m", "gemini-2.5-flash"];
  const child = spawn(
    process.execPath,
    [bin, "guard", "acp", "--name", "gemini", "--hub", place.directory, "--", ...words],
    {
      cwd: project,
      env: {
        ...env,
        HOME: acpHome,
        GEMINI_API_KEY: "none",
        GOOGLE_GEMINI_BASE_URL: model.url,
        GEMINI_CLI_NO_RELAUNCH: "true",
      },
      stdio: ["pipe", "pipe", "ignore"],
    },
  );
  started.push(child);
  const answers = new Map();
  const told = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined) answers.get(message.id)?.(message.result);
    const { update } = message.params ?? {};
    if (message.method !== "session/update" || !update.sessionUpdate.startsWith("tool_call")) return;
    const texts = (update.content ?? [])
      .map(({ content }) => content?.text)
      .filter((text) => text?.startsWith("harness guard"));
    told.push(
      [`${update.sessionUpdate}: ${update.title ?? ""} ${update.status ?? ""}`.trim(), ...texts].join("\n  "),
    );
  });
  let count = 0;
  const request = (method, params) =>
    new Promise((resolve) => {
      const id = count++;
      answers.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  say("## In an editor, over ACP\n");
  say(
    "The editor starts `harness guard acp --name gemini -- gemini --acp …` in the place of `gemini --acp …`. The same model, the same hub.\n",
  );
  await request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await request("session/new", { cwd: project, mcpServers: [] });
  const turn = request("session/prompt", { sessionId, prompt: [{ type: "text", text: "release it" }] });
  await until(async () => (await pendingOf(client)).length === 1, "the question of the ACP agent");
  await until(() => told.some((line) => line.includes("waiting for a decision")), "the notice in the editor");
  await harness("inbox");
  const [{ id }] = await pendingOf(client);
  await harness("inbox", "--approve", id);
  const { stopReason } = await turn;
  say("What the editor was told:\n");
  say(`\`\`\`text\n${shown([...told, `end of the turn: ${stopReason}`].join("\n"))}\n\`\`\`\n`);
  child.stdin.end();
  await once(child, "close");
  await model.close();
};

const push = "git push --force origin main";
const publishBy = (id) => `./publish.sh ${id}`;

try {
  for (const one of [home, project]) await mkdir(one);
  await writeFile(
    join(project, "publish.sh"),
    `#!/bin/sh\necho "published by $1" >> "${join(project, "published.log")}"\n`,
  );
  await chmod(join(project, "publish.sh"), 0o755);
  await run("git", ["init", "-q", "--bare", remote], directory);
  await run("git", ["init", "-q", "-b", "main"]);
  await run("git", ["remote", "add", "origin", remote]);
  await run("git", ["add", "publish.sh"]);
  await run("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "First"]);
  await run("git", ["push", "-q", "origin", "main"]);
  const head = (await run("git", ["rev-parse", "main"], remote)).trim();

  const back = {};
  back.promise = new Promise((resolve) => (back.resolve = resolve));
  const agents = await Promise.all(
    runnableHosts.map(async (host) => {
      const program = await findHostProgram(findHost(host.id), process.env);
      if (!program) throw new Error(`${host.id} is not on the PATH`);
      const model = await startScriptedModel(async ({ length }) => {
        if (length === 0) return { command: push };
        if (length === 1) return { command: publishBy(host.id) };
        if (length > 2) return { say: "done" };
        await back.promise;
        return { command: publishBy(host.id) };
      });
      const parts = {
        home,
        project,
        modelUrl: model.url,
        hooks: undefined,
        isTrusted: true,
        prompt: "release it",
      };
      return { ...(await host.prepare(parts)), host, program, model };
    }),
  );

  say("# A recorded session: Claude Code, Codex, Gemini CLI and Copilot CLI under one guard\n");
  say(
    "Made by `apps/cli/sessions/guard.mjs`: the real programs against a scripted model on this machine. The model asks each of them to rewrite",
  );
  say(
    "history by a forced push, and then to publish. The hub is killed while all wait. Then Gemini CLI works in an editor, over ACP.\n",
  );
  let hub = await startHub();
  show("harness hub &", hub.output);
  await harness("guard", "init", ...agents.flatMap(({ host }) => ["--agent", host.id]), "--yes");
  const ends = agents.map(({ program, args, env: own }) =>
    runProgram({ program, args, env: own, cwd: project, timeoutMs: 300_000 }),
  );
  let client = await clientOf();
  await until(async () => (await pendingOf(client)).length === agents.length, "all questions");
  say("The four run. Their forced pushes are blocked; all wait for an answer about the publication.\n");
  await harness("inbox");
  hub.child.kill("SIGKILL");
  await hub.ended;
  await until(() => agents.every(({ model }) => model.outputs.length >= 2), "the refusals");
  show(
    "kill -9 HUB",
    agents.map(({ host, model }) => `${host.id} was answered: ${model.outputs[1]}`).join("\n"),
  );
  hub = await startHub();
  client = await clientOf();
  const pending = await pendingOf(client);
  say(
    `The hub is started again: ${pending.length} questions wait, as before. The models repeat their calls. A human approves them in the hub's page:\n`,
  );
  const browser = await chromium.launch(findChromium());
  const page = await browser.newPage();
  await page.goto(/page: (\S+)/.exec(hub.output)[1]);
  for (const { origin } of pending) await approve(page, origin.agent);
  await until(async () => (await pendingOf(client)).length === 0, "the answers");
  const { records } = await client.call("inbox.list", { status: "approved" });
  const answered = records.map(({ origin, answer }) => `${origin.agent}: approved by ${answer.by}`);
  say(`\`\`\`text\n${answered.sort().join("\n")}\n\`\`\`\n`);
  await browser.close();
  back.resolve();
  const results = await Promise.all(ends);
  await acpRun(client);
  show("cat published.log", await readFile(join(project, "published.log"), "utf8"));
  const { rows } = await client.call("timeline.page", {});
  const line = ({ agent, summary, state, decision, approval }) =>
    [
      agent.padEnd(11),
      state.padEnd(8),
      (decision?.decision ?? "").padEnd(9),
      (approval
        ? `${approval.status} by ${approval.by ?? "-"}, ${approval.effect}`
        : (decision?.rule ?? "")
      ).padEnd(40),
      summary,
    ]
      .join("  ")
      .trimEnd();
  say("The timeline, from the oldest row:\n");
  say(
    `\`\`\`text\n${rows
      .filter(({ type }) => type === "pre_action")
      .reverse()
      .map(line)
      .join("\n")}\n\`\`\`\n`,
  );
  const removed = await run(process.execPath, [bin, "guard", "remove", "--yes"]);
  // Without the diffs.
  const lines = removed.split("\n").filter((line) => line.includes(": written"));
  show("harness guard remove --yes", lines.join("\n"));
  const published = (await readFile(join(project, "published.log"), "utf8")).trim().split("\n").sort();
  const isSame = (await run("git", ["rev-parse", "main"], remote)).trim() === head;
  const expected = [...agents.map(({ host }) => host.id), "acp"].map((id) => `published by ${id}`).sort();
  if (
    !isSame ||
    JSON.stringify(published) !== JSON.stringify(expected) ||
    results.some(({ code }) => code !== 0)
  ) {
    throw new Error(`not as expected: ${JSON.stringify({ isSame, published, results })}`);
  }
  say("Checked by the script: the remote branch is unchanged, and each agent has published exactly once.");
  await Promise.all(agents.map(({ model }) => model.close()));
  await client.close();
} finally {
  for (const child of started) child.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
process.exit();
