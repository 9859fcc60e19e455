import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** What a run of a host is made of: a home and a project of its own, a model, and hooks. */
export interface HostRunParts {
  /** A directory that exists, for the host's settings; nothing of the user's is in it. */
  readonly home: string;
  /** A directory that exists, in which the host works. */
  readonly project: string;
  /** Of a scripted model. */
  readonly modelUrl: string;
  /** The text of a settings or plugin file with the hooks. @default undefined, none is written */
  readonly hooks?: string | undefined;
  /** Whether the host is made to trust the hooks. */
  readonly isTrusted: boolean;
  /** Whether the host asks its user as it does by itself, and not at all otherwise: then what its hooks do not stop runs. @default false */
  readonly asksUser?: boolean | undefined;
  readonly prompt: string;
}

/** How to start a host for one prompt. */
export interface HostStart {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A host that can be run offline. */
export interface RunnableHost {
  readonly id: string;
  /** Writes the settings into the home or the project, and says how to start the host. */
  readonly prepare: (parts: HostRunParts) => Promise<HostStart>;
}

const codexConfig = (modelUrl: string): string => `model = "gpt-5"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "${modelUrl}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`;

/** Codex. By itself it does not ask in `exec`, and its sandbox lets commands write in the project. */
const codexRun: RunnableHost = {
  id: "codex",
  async prepare({ home, modelUrl, hooks, isTrusted, asksUser, prompt }) {
    const directory = join(home, ".codex");
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "config.toml"), codexConfig(modelUrl));
    if (hooks) await writeFile(join(directory, "hooks.json"), hooks);
    return {
      args: [
        "exec",
        "--skip-git-repo-check",
        ...(asksUser ? ["--sandbox", "workspace-write"] : ["--dangerously-bypass-approvals-and-sandbox"]),
        ...(isTrusted ? ["--dangerously-bypass-hook-trust"] : []),
        prompt,
      ],
      env: { HOME: home, CODEX_HOME: directory },
    };
  },
};

const geminiSettings = {
  security: { auth: { selectedType: "gemini-api-key" } },
  privacy: { usageStatisticsEnabled: false },
  general: { disableAutoUpdate: true },
};

/** What it needs in order to offer a command without a terminal at which it can ask. */
const geminiAllowed = { tools: { allowed: ["run_shell_command"] } };

/** Gemini CLI. Hooks that it does not trust are those of the project. */
const geminiRun: RunnableHost = {
  id: "gemini-cli",
  async prepare({ home, project, modelUrl, hooks, isTrusted, asksUser, prompt }) {
    const write = async (root: string, content: object) => {
      await mkdir(join(root, ".gemini"), { recursive: true });
      await writeFile(join(root, ".gemini", "settings.json"), JSON.stringify(content));
    };
    const parsed = hooks === undefined ? {} : (JSON.parse(hooks) as object);
    const settings = { ...geminiSettings, ...(asksUser && geminiAllowed) };
    await write(home, isTrusted ? { ...settings, ...parsed } : settings);
    if (!isTrusted) await write(project, parsed);
    return {
      args: ["-p", prompt, ...(asksUser ? [] : ["--yolo"]), "--skip-trust", "-m", "gemini-2.5-flash"],
      env: {
        HOME: home,
        GEMINI_API_KEY: "none",
        GOOGLE_GEMINI_BASE_URL: modelUrl,
        // It would start itself once more, with more memory.
        GEMINI_CLI_NO_RELAUNCH: "true",
      },
    };
  },
};

/** Copilot CLI with a model provider of its user's own, offline. Hooks that it does not trust are the project's. */
const copilotRun: RunnableHost = {
  id: "copilot-cli",
  async prepare({ home, project, modelUrl, hooks, isTrusted, asksUser, prompt }) {
    const directory = isTrusted ? join(home, ".copilot", "hooks") : join(project, ".github", "hooks");
    await mkdir(directory, { recursive: true });
    if (hooks) await writeFile(join(directory, "probe.json"), hooks);
    return {
      args: ["-p", prompt, ...(asksUser ? [] : ["--allow-all-tools"]), "--no-color"],
      env: {
        HOME: home,
        COPILOT_HOME: join(home, ".copilot"),
        COPILOT_OFFLINE: "true",
        COPILOT_AUTO_UPDATE: "false",
        COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
        COPILOT_PROVIDER_API_KEY: "none",
        COPILOT_MODEL: "scripted",
      },
    };
  },
};

/** Claude Code. Hooks that it does not trust are those of the project. */
const claudeRun: RunnableHost = {
  id: "claude-code",
  async prepare({ home, project, modelUrl, hooks, isTrusted, asksUser, prompt }) {
    const directory = join(isTrusted ? home : project, ".claude");
    await mkdir(directory, { recursive: true });
    if (hooks) await writeFile(join(directory, "settings.json"), hooks);
    return {
      args: ["-p", prompt, ...(asksUser ? [] : ["--dangerously-skip-permissions"])],
      env: {
        HOME: home,
        ANTHROPIC_BASE_URL: modelUrl,
        ANTHROPIC_API_KEY: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        // Root may skip its permissions only if it knows that it is in a sandbox.
        IS_SANDBOX: "1",
      },
    };
  },
};

/** The hosts that run offline, without a key and against a model of ours. opencode does not: it fetches a package of its own before it loads a plugin. */
export const runnableHosts: readonly RunnableHost[] = [claudeRun, codexRun, geminiRun, copilotRun];
