import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunnableHost } from "./host-run.ts";

const config = (modelUrl: string): string => `model = "gpt-5"
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
export const codexRun: RunnableHost = {
  id: "codex",
  async prepare({ home, modelUrl, hooks, isTrusted, prompt }) {
    const directory = join(home, ".codex");
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "config.toml"), config(modelUrl));
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
