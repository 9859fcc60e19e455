import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@harnesskit/protocol/envelope";

/** What a run of a host is made of: a home and a project of its own, a model, and hooks. */
export interface HostRunParts {
  /** A directory that exists, for the host's settings; nothing of the user's is in it. */
  readonly home: string;
  /** A directory that exists, in which the host works. */
  readonly project: string;
  /** Of a scripted model. */
  readonly modelUrl: string;
  /** The settings with the hooks; undefined: none. */
  readonly hooks: JsonObject | undefined;
  /** Whether the host is made to trust the hooks. */
  readonly isTrusted: boolean;
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

/** Codex, without approvals and sandbox of its own: what its hooks do not stop runs. */
const codexRun: RunnableHost = {
  id: "codex",
  async prepare({ home, modelUrl, hooks, isTrusted, prompt }) {
    const directory = join(home, ".codex");
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "config.toml"), codexConfig(modelUrl));
    if (hooks) await writeFile(join(directory, "hooks.json"), JSON.stringify(hooks));
    return {
      args: [
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
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

/** Gemini CLI, without approvals of its own. Hooks that it does not trust are those of the project. */
const geminiRun: RunnableHost = {
  id: "gemini-cli",
  async prepare({ home, project, modelUrl, hooks, isTrusted, prompt }) {
    const write = async (root: string, content: object) => {
      await mkdir(join(root, ".gemini"), { recursive: true });
      await writeFile(join(root, ".gemini", "settings.json"), JSON.stringify(content));
    };
    await write(home, isTrusted ? { ...geminiSettings, ...hooks } : geminiSettings);
    if (!isTrusted && hooks) await write(project, hooks);
    return {
      args: ["-p", prompt, "--yolo", "--skip-trust", "-m", "gemini-2.5-flash"],
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

/** Copilot CLI with a model provider of its user's own, offline, without approvals of its own. Hooks that it does not trust are the project's. */
const copilotRun: RunnableHost = {
  id: "copilot-cli",
  async prepare({ home, project, modelUrl, hooks, isTrusted, prompt }) {
    const directory = isTrusted ? join(home, ".copilot", "hooks") : join(project, ".github", "hooks");
    await mkdir(directory, { recursive: true });
    if (hooks) await writeFile(join(directory, "probe.json"), JSON.stringify(hooks));
    return {
      args: ["-p", prompt, "--allow-all-tools", "--no-color"],
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

/** The hosts that run offline, without a key and against a model of ours. */
export const runnableHosts: readonly RunnableHost[] = [codexRun, geminiRun, copilotRun];
