import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pagePrograms } from "../page-programs.mjs";
import { repositoryRoot } from "../root.mjs";
import { run } from "../run.mjs";
import { manifestOf } from "../workspace.mjs";
import { frameworkProblems } from "./frameworks.mjs";

const guides = ["docs/frameworks.md", "docs/supervise.md"].map((page) => {
  const text = readFileSync(join(repositoryRoot, page), "utf8");
  return { page, text, programs: pagePrograms(text).files };
});
const [frameworks, supervise] = guides;

/** Mastra 1 needs Node 22.13; its binary is in the npm registry. */
const isNewEnough = Number(process.versions.node.split(".")[0]) > 22;
const nodePackage = `node-${process.platform}-${process.arch}`;
const theirs = {
  ...{ "@hono/node-server": "2.1.9", hono: "4.13.19", fastify: "5.12.8", express: "5.3.0" },
  ...{ next: "16.4.6", react: "19.3.1", "react-dom": "19.3.1", "@types/express": "5.0.6" },
  ...{ "@mastra/core": "1.71.0", ...(!isNewEnough && { [nodePackage]: "22" }) },
};

const policy = `version: 1
defaults: { pre_prompt: allow }
rules:
  - { name: removes, when: { event: pre_action, cel: 'args.command.startsWith("rm ")' }, then: { decision: block, reason: it removes files } }
  - { name: others, when: { event: pre_action }, then: allow }
`;

/** A Mastra agent with the guide's client and tool, and a model that calls the tool twice. */
const mastraAgent = `
import { Agent } from "@mastra/core/agent";
import { client } from "./client.mjs";
import { shell } from "./shell.mjs";

const call = (toolCallId, command) => ({ type: "tool-call", toolCallId, toolName: "shell", input: JSON.stringify({ command }) });
const answers = [[call("c1", "echo made > made.txt"), call("c2", "rm kept.txt")], [{ type: "text", text: "done" }]];
const prompts = [];
const model = {
  ...{ specificationVersion: "v2", provider: "stand-in", modelId: "stand-in", supportedUrls: {} },
  async doGenerate({ prompt }) {
    prompts.push(prompt);
    const finishReason = prompts.length === answers.length ? "stop" : "tool-calls";
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    return { content: answers[prompts.length - 1], finishReason, usage, warnings: [] };
  },
};
await client.connect();
const agent = new Agent({ id: "worker", name: "Worker", instructions: "work", model, tools: { shell } });
const { text } = await agent.generate("go");
console.log(JSON.stringify(prompts.at(-1)), text);
await client.close();
`;

const write = (file, text) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

/** What the guides' programs import, from `tarballs` by name, and what others publish. */
export const dependencies = (tarballs) => {
  const [, names = ""] = /@harnesskit\/\{([^}]+)\}/.exec(frameworks.text) ?? [];
  const ours = [...names.split(","), "cli"].map((name) => `@harnesskit/${name}`);
  const { dependencies: own, devDependencies } = manifestOf("packages/ahp-client");
  const all = Object.fromEntries(ours.map((name) => [name, tarballs[name]]));
  return { ...all, ...theirs, ai: devDependencies.ai, zod: own.zod };
};

/** Starts the hub that the guides tell their readers to start. */
async function startHub(cwd, env) {
  write(join(cwd, "hub-policy.yaml"), policy);
  const bin = join(cwd, "node_modules/@harnesskit/cli/dist/bin.cjs");
  const args = [bin, "hub", "--policy", "hub-policy.yaml"];
  const hub = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env } });
  const exited = once(hub, "exit");
  let output = "";
  for (const stream of [hub.stdout, hub.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  while (!output.includes("agents: "))
    await Promise.race([
      once(hub.stdout, "data"),
      once(hub.stderr, "data"),
      exited.then(() => Promise.reject(new Error(`no hub: ${output}`))),
    ]);
  return async () => {
    hub.kill("SIGKILL");
    await exited;
  };
}

async function mastraProblems(cwd, env) {
  for (const { name, code } of supervise.programs) write(join(cwd, name), code);
  write(join(cwd, "mastra.mjs"), mastraAgent);
  write(join(cwd, "kept.txt"), "");
  const node = isNewEnough ? process.execPath : join(cwd, "node_modules", nodePackage, "bin/node");
  const options = { cwd, env: { ...env, MASTRA_TELEMETRY_DISABLED: "1" }, timeoutMs: 60_000 };
  const { code, stdout, output } = await run(node, ["mastra.mjs"], options);
  const isRefused = stdout.includes("Blocked by policy: it removes files (rule removes)");
  const [made, kept] = ["made.txt", "kept.txt"].map((file) => existsSync(join(cwd, file)));
  if (code === 0 && stdout.endsWith("done\n") && isRefused && made && kept) return [];
  return [`${supervise.page}: the Mastra agent ends with ${code}: ${output.trim()}`];
}

/** Runs the programs of the guides that use what others publish against the packed packages in `cwd`, under a hub. Returns findings. */
export async function check(cwd) {
  const env = { XDG_STATE_HOME: join(cwd, "state"), APP_TOKEN: "a-token-of-the-check" };
  const stop = await startHub(cwd, env);
  try {
    return [...(await mastraProblems(cwd, env)), ...(await frameworkProblems(cwd, env, frameworks))];
  } finally {
    await stop();
  }
}
