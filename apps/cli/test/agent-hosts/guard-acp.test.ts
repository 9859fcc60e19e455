import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startScriptedModel } from "@harnesskit/guard/doctor";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { openEditor } from "../support/acp-editor.ts";
import { GuardedMachine } from "../support/guarded-agent.ts";
import { startProcess } from "../support/harness.ts";

const program = inject("agentHosts")["gemini-cli"];

const settings = {
  security: { auth: { selectedType: "gemini-api-key" } },
  privacy: { usageStatisticsEnabled: false },
  general: { disableAutoUpdate: true },
};

describe("the real gemini --acp behind harness guard acp", () => {
  it.skipIf(program === undefined)(
    "is refused a forced push, and publishes once, after the hub was killed and a human approved",
    async () => {
      const machine = await GuardedMachine.create();
      const hub = await machine.startHub(startProcess);
      await mkdir(join(machine.home, ".gemini"));
      await writeFile(join(machine.home, ".gemini", "settings.json"), JSON.stringify(settings));
      const model = await startScriptedModel(({ length }) =>
        length === 0
          ? { command: "git push --force origin main" }
          : length === 1
            ? { command: "./publish.sh 1.0.0" }
            : { say: "done" },
      );
      onTestFinished(() => model.close());
      const env = {
        ...machine.env,
        GEMINI_API_KEY: "none",
        GOOGLE_GEMINI_BASE_URL: model.url,
        GEMINI_CLI_NO_RELAUNCH: "true",
      };
      const words = ["--", program as string, "--acp", "--skip-trust", "-m", "gemini-2.5-flash"];
      const editor = await openEditor(words, { cwd: machine.project, env });
      const turn = editor.prompt("release it");
      const early = turn.then((end) =>
        Promise.reject(new TypeError(`the turn ended: ${JSON.stringify(end)}`)),
      );
      const asked = await Promise.race([machine.pending(await machine.client()), early]);
      expect(asked).toMatchObject({
        origin: { agent: "acp.gemini", session: editor.session },
        subject: { tool: "bash", input: { command: "./publish.sh 1.0.0", cwd: machine.project } },
      });
      expect(await machine.lines("publish")).toEqual([]);
      hub.kill("SIGKILL");
      await hub.ended;
      await machine.startHub();
      const client = await machine.client();
      expect((await machine.pending(client)).id).toBe(asked.id);
      expect(await machine.harness("inbox", "--approve", asked.id)).toMatchObject({ code: 0 });
      expect(await turn).toMatchObject({ stopReason: "end_turn" });
      expect(await machine.lines("publish")).toEqual(["1.0.0"]);
      expect(editor.asked.filter(({ method }) => method === "session/request_permission")).toEqual([]);
      const { rows } = await client.call("timeline.page", { filter: { agent: "acp.gemini" } });
      const actions = rows.filter(({ type }) => type === "pre_action").reverse();
      expect(actions).toMatchObject([
        { state: "refused", decision: { decision: "block", rule: "destructive-commands" } },
        { state: "done", decision: { decision: "allow", source: "approval" } },
      ]);
      expect(model.outputs[0]).toContain("canceled by the user");
    },
    180_000,
  );
});
