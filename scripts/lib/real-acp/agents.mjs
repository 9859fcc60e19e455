import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

const codexConfig = (url) => `model = "gpt-5"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`;

const codexEnv = (home, url) => {
  write(join(home, ".codex", "config.toml"), codexConfig(url));
  return { CODEX_HOME: join(home, ".codex"), CODEX_API_KEY: "none", OPENAI_API_KEY: "none" };
};

/** Codex asks for what leaves its sandbox, which its model has to want. */
const outside = (cmd) => ({
  calls: [
    {
      name: "exec_command",
      input: { cmd, sandbox_permissions: "require_escalated", justification: "it must" },
    },
  ],
});

const opencodeConfig = (url) => ({
  model: "scripted/scripted",
  small_model: "scripted/scripted",
  autoupdate: false,
  share: "disabled",
  provider: {
    scripted: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: `${url}/v1`, apiKey: "none" },
      models: { scripted: {} },
    },
  },
});
const opencodeEnv = (home, url) => {
  write(join(home, ".config", "opencode", "opencode.json"), JSON.stringify(opencodeConfig(url)));
  return { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
};

const geminiSettings = {
  security: { auth: { selectedType: "gemini-api-key" } },
  privacy: { usageStatisticsEnabled: false },
  general: { disableAutoUpdate: true },
};

const runs = (command) => ({ command });

/**
 * The ACP agents: their npm package and program, `env(home, modelUrl)`, which writes their settings, and `step(command)`, by which their
 * models run a command that they ask for. `unasked` is how each is started to do one by itself.
 */
export const agents = [
  {
    ...{ id: "claude-agent-acp", npm: "@agentclientprotocol/claude-agent-acp", bin: "claude-agent-acp" },
    args: [],
    env: (_home, url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "none",
      IS_SANDBOX: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
    step: runs,
    unasked: { guard: ["--asking", "warn"] },
  },
  {
    ...{ id: "codex-acp-0.16", npm: "@zed-industries/codex-acp", bin: "codex-acp", version: "0.16.0" },
    ...{ args: [], auth: "openai-api-key", env: codexEnv, step: outside, unasked: { step: runs } },
  },
  {
    ...{ id: "codex-acp", npm: "@agentclientprotocol/codex-acp", bin: "codex-acp" },
    ...{ args: [], auth: "api-key", env: codexEnv, step: outside, unasked: { step: runs } },
  },
  {
    ...{ id: "opencode", npm: "opencode-ai", bin: "opencode", args: ["acp"] },
    env: (home, url) => ({
      ...opencodeEnv(home, url),
      OPENCODE_PERMISSION: '{"edit":"ask","bash":"ask","webfetch":"ask","task":"ask"}',
    }),
    step: runs,
    unasked: { env: { OPENCODE_PERMISSION: "{}" } },
  },
  {
    ...{ id: "gemini-cli", npm: "@google/gemini-cli", bin: "gemini" },
    args: ["--acp", "--skip-trust", "-m", "gemini-2.5-flash"],
    env: (home, url) => {
      write(join(home, ".gemini", "settings.json"), JSON.stringify(geminiSettings));
      return { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_NO_RELAUNCH: "true" };
    },
    step: runs,
    unasked: { step: () => runs("git status") },
  },
  {
    ...{ id: "copilot-cli", npm: "@github/copilot", bin: "copilot", args: ["--acp"] },
    env: (home, url) => ({
      COPILOT_HOME: join(home, ".copilot"),
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: "none",
      COPILOT_MODEL: "scripted",
    }),
    step: runs,
    unasked: { step: () => runs("git status") },
  },
];
