import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunnableHost } from "./host-run.ts";

/** Copilot CLI with a model provider of its user's own, offline, without approvals of its own. Hooks that it does not trust are the project's. */
export const copilotRun: RunnableHost = {
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
