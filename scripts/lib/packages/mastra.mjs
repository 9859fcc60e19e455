import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { pagePrograms } from "../page-programs.mjs";
import { repositoryRoot } from "../root.mjs";
import { run } from "../run.mjs";
import { manifestOf } from "../workspace.mjs";

const guide = "docs/supervise.md";
const mastra = "1.71.0";
/** Mastra 1 needs Node 22.13; its binary is in the npm registry. */
const isNewEnough = Number(process.versions.node.split(".")[0]) > 22;
const nodePackage = `node-${process.platform}-${process.arch}`;

const expected = {
  text: "done",
  results: { allowed: "json", blocked: "error-text" },
  refusal: "Blocked by policy: it removes files (rule removes)",
  rows: { allowed: "done", blocked: "refused" },
  files: { "made.txt": true, "kept.txt": true },
};

/** A Mastra agent with the guide's client and tool, a model that calls the tool twice, and a hub that allows one of the calls. */
const program = `
import { existsSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { createMemoryApprovalStore } from "@harnesskit/approvals";
import { createHub } from "@harnesskit/hub";
import { createHubClient } from "@harnesskit/hub/client";
import { serveHub } from "@harnesskit/hub/node";
import { hubPlace } from "@harnesskit/hub/place";
import { createPolicyHarness, parsePolicy } from "@harnesskit/policy";
import { createMemoryTimelineStore } from "@harnesskit/timeline";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { Agent } from "@mastra/core/agent";
import { client } from "./client.mjs";
import { shell } from "./shell.mjs";

const policy = createPolicyHarness({
  policy: parsePolicy(\`
version: 1
rules:
  - { name: removes, when: { tool: shell, cel: 'args.command.startsWith("rm ")' }, then: { decision: block, reason: it removes files } }
  - { name: others, when: { tool: shell }, then: allow }
\`),
});
const hub = createHub({ version: "1.0.0", policy, approvals: createMemoryApprovalStore(), timeline: createMemoryTimelineStore() });
await hub.start();
const served = await serveHub({ hub, place: hubPlace(), user: "ada" });
await client.connect();

const call = (toolCallId, command) => ({ type: "tool-call", toolCallId, toolName: "shell", input: JSON.stringify({ command }) });
const answers = [
  [call("allowed", "echo made > made.txt"), call("blocked", "rm kept.txt")],
  [{ type: "text", text: "done" }],
];
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
const agent = new Agent({ id: "worker", name: "Worker", instructions: "work", model, tools: { shell } });
const { text } = await agent.generate("go");
const results = prompts.at(-1).filter(({ role }) => role === "tool").flatMap(({ content }) => content);
await client.flush();

const terminal = createHubClient({
  transport: createUnixTransport({ path: hubPlace().apiSocket, framing: "newline" }),
  client: { name: "terminal" },
});
await terminal.connect();
const page = () => terminal.call("timeline.page", { filter: { tool: "shell" } });
const isOpen = ({ rows }) => rows.length < 2 || rows.some(({ state }) => state === "running");
const untilMs = Date.now() + 10_000;
let timeline = await page();
for (; isOpen(timeline) && Date.now() < untilMs; timeline = await page()) await setTimeout(20);
const files = Object.fromEntries(["made.txt", "kept.txt"].map((file) => [file, existsSync(file)]));
console.log(JSON.stringify({
  text,
  results: Object.fromEntries(results.map(({ toolCallId, output }) => [toolCallId, output.type])),
  refusal: results.find(({ toolCallId }) => toolCallId === "blocked")?.output.value,
  rows: Object.fromEntries(timeline.rows.map(({ callId, state }) => [callId, state])),
  files,
}));
await terminal.close();
await client.close();
await served.close();
await hub.close();
`;

const ours = ["ahp-client", "approvals", "hub", "policy", "timeline", "transport-uds"].map(
  (name) => `@harnesskit/${name}`,
);

export const dependencies = (tarballs) => ({
  ...Object.fromEntries(ours.map((name) => [name, tarballs[name]])),
  "@mastra/core": mastra,
  zod: manifestOf("packages/ahp-client").dependencies.zod,
  ...(!isNewEnough && { [nodePackage]: "22" }),
});

/** Runs the guide's tool in a Mastra agent, with a stand-in for the model, against the packed packages in `cwd`. Returns findings. */
export async function check(cwd) {
  for (const { name, code } of pagePrograms(readFileSync(join(repositoryRoot, guide), "utf8")).files)
    writeFileSync(join(cwd, name), code);
  writeFileSync(join(cwd, "agent.mjs"), program);
  writeFileSync(join(cwd, "kept.txt"), "");
  const node = isNewEnough ? process.execPath : join(cwd, "node_modules", nodePackage, "bin/node");
  const { code, stdout, output } = await run(node, ["agent.mjs"], {
    cwd,
    env: { XDG_STATE_HOME: join(cwd, "state"), MASTRA_TELEMETRY_DISABLED: "1" },
    timeoutMs: 60_000,
  });
  const found = code === 0 ? JSON.parse(stdout.trim().split("\n").at(-1)) : undefined;
  return isDeepStrictEqual(found, expected)
    ? []
    : [`${guide}: the Mastra agent ends with ${code}: ${output.trim()}`];
}
