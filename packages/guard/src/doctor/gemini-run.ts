import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunnableHost } from "./host-run.ts";

const settings = {
  security: { auth: { selectedType: "gemini-api-key" } },
  privacy: { usageStatisticsEnabled: false },
  general: { disableAutoUpdate: true },
};

/** Gemini CLI, without approvals of its own. Hooks that it does not trust are those of the project. */
export const geminiRun: RunnableHost = {
  id: "gemini-cli",
  async prepare({ home, project, modelUrl, hooks, isTrusted, prompt }) {
    const write = async (root: string, content: object) => {
      await mkdir(join(root, ".gemini"), { recursive: true });
      await writeFile(join(root, ".gemini", "settings.json"), JSON.stringify(content));
    };
    await write(home, isTrusted ? { ...settings, ...hooks } : settings);
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
