import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runnableHosts } from "../../../packages/guard/dist/doctor.js";

const call = (name, input) => ({ name, input });

/** Of opencode, which the doctor does not run: it fetches a package before it loads a plugin, and here `seed` has it already. */
const prepareOpencode = async ({ home, modelUrl, prompt, seed }) => {
  const directory = join(home, ".config", "opencode");
  mkdirSync(directory, { recursive: true });
  if (seed) cpSync(seed, directory, { recursive: true });
  const config = {
    ...{ model: "scripted/scripted", small_model: "scripted/scripted" },
    autoupdate: false,
    share: "disabled",
    provider: {
      scripted: {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${modelUrl}/v1`, apiKey: "none" },
        models: { scripted: { tool_call: true } },
      },
    },
  };
  writeFileSync(join(directory, "opencode.json"), JSON.stringify(config));
  const env = { HOME: home, OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
  return { args: ["run", prompt], env };
};

/** As the doctor starts it. */
const prepareBy = (id) => (parts) =>
  runnableHosts.find((one) => one.id === id).prepare({ ...parts, isTrusted: true });

/**
 * The agents whose hooks ask the guard: their npm package, how each is started with the permissions that it has by itself, and the calls
 * that its model makes: `bash(command)`, `subagent(prompt)`, and `type(text)`, the steps that write into the input of a shell that runs,
 * where the agent has a tool for that.
 */
export const hosts = [
  {
    id: "claude-code",
    name: "Claude Code",
    npm: "@anthropic-ai/claude-code",
    bin: "claude",
    mode: "`claude -p`",
    prepare: prepareBy("claude-code"),
    bash: (command) => call("Bash", { command, description: "a step" }),
    subagent: (prompt) =>
      call("Agent", {
        description: "a part",
        prompt,
        subagent_type: "general-purpose",
        run_in_background: false,
      }),
  },
  {
    id: "codex",
    name: "Codex",
    npm: "@openai/codex",
    bin: "codex",
    mode: "`codex exec --sandbox workspace-write`; the trust in the new hooks is given by `--dangerously-bypass-hook-trust`",
    prepare: prepareBy("codex"),
    bash: (command) => call("exec_command", { cmd: command }),
    subagent: (prompt) => ({ ...call("spawn_agent", { message: prompt }), namespace: "multi_agent_v1" }),
    afterSubagent: (outputs) => {
      const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(outputs.at(-1) ?? "")?.[0];
      const wait = call("wait_agent", { targets: [id], timeout_ms: 30_000 });
      return id === undefined ? undefined : { ...wait, namespace: "multi_agent_v1" };
    },
    type: [
      () => call("exec_command", { cmd: "sh", tty: true, yield_time_ms: 1000 }),
      (text, outputs) => {
        const id = Number(/session ID (\d+)/i.exec(outputs.at(-1) ?? "")?.[1]);
        return call("write_stdin", { session_id: id, chars: text, yield_time_ms: 2000 });
      },
    ],
  },
  {
    id: "gemini-cli",
    name: "Gemini CLI",
    npm: "@google/gemini-cli",
    bin: "gemini",
    mode: "`gemini -p` with `run_shell_command` in the setting `tools.allowed`: without it no command is offered there",
    prepare: prepareBy("gemini-cli"),
    bash: (command) => call("run_shell_command", { command, description: "a step" }),
    subagent: (prompt) => call("invoke_agent", { agent_name: "generalist", prompt }),
  },
  {
    id: "copilot-cli",
    name: "Copilot CLI",
    npm: "@github/copilot",
    bin: "copilot",
    mode: "`copilot -p`",
    prepare: prepareBy("copilot-cli"),
    bash: (command) => call("bash", { command, description: "a step" }),
    subagent: (prompt) =>
      call("task", {
        name: "part",
        description: "a part",
        agent_type: "general-purpose",
        prompt,
        mode: "sync",
      }),
  },
  {
    id: "opencode",
    name: "opencode",
    npm: "opencode-ai",
    bin: "opencode",
    mode: "`opencode run`",
    prepare: prepareOpencode,
    bash: (command) => call("bash", { command, description: "a step" }),
    subagent: (prompt) => call("task", { description: "a part", prompt, subagent_type: "general" }),
  },
];

const runs = (command) => ({ command });

/** Codex asks for what leaves its sandbox, which its model has to want. */
const escalated = (cmd) => ({
  calls: [call("exec_command", { cmd, sandbox_permissions: "require_escalated", justification: "it must" })],
});
const codexKeys = { CODEX_API_KEY: "none", OPENAI_API_KEY: "none" };
const codexAcp = { prepare: prepareBy("codex"), env: codexKeys, args: [], step: escalated };

const asking = { OPENCODE_PERMISSION: '{"edit":"ask","bash":"ask","webfetch":"ask","task":"ask"}' };

/**
 * The agents that speak ACP behind `harness guard acp`: their npm package and program, how each is started, and `step(command)`, by which
 * their models run a command that they ask for. `unasked` is how each is started to do one by itself.
 */
export const acpAgents = [
  {
    ...{ id: "claude-agent-acp", npm: "@agentclientprotocol/claude-agent-acp", bin: "claude-agent-acp" },
    ...{ prepare: prepareBy("claude-code"), args: [], unasked: { guard: ["--asking", "warn"] } },
  },
  {
    ...{ id: "codex-acp-0.16", npm: "@zed-industries/codex-acp", bin: "codex-acp", version: "0.16.0" },
    ...{ ...codexAcp, auth: "openai-api-key", unasked: { step: runs } },
  },
  {
    ...{ id: "codex-acp", npm: "@agentclientprotocol/codex-acp", bin: "codex-acp" },
    ...{ ...codexAcp, auth: "api-key", unasked: { step: runs } },
  },
  {
    ...{ id: "opencode-acp", npm: "opencode-ai", bin: "opencode", args: ["acp"], prepare: prepareOpencode },
    ...{ env: asking, unasked: { env: { OPENCODE_PERMISSION: "{}" } } },
  },
  {
    ...{ id: "gemini-cli-acp", npm: "@google/gemini-cli", bin: "gemini", prepare: prepareBy("gemini-cli") },
    args: ["--acp", "--skip-trust", "-m", "gemini-2.5-flash"],
    unasked: { step: () => runs("git status") },
  },
  {
    ...{ id: "copilot-cli-acp", npm: "@github/copilot", bin: "copilot", prepare: prepareBy("copilot-cli") },
    ...{ args: ["--acp"], unasked: { step: () => runs("git status") } },
  },
].map((agent) => ({ name: agent.id, step: runs, ...agent }));
