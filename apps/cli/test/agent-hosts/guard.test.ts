import { runnableHosts } from "@harnesskit/guard/doctor";
import { createDeferred } from "@harnesskit/wire";
import { describe, expect, inject, it } from "vitest";
import { GuardedMachine } from "../support/guarded-agent.ts";
import { startProcess } from "../support/harness.ts";

const programs = inject("agentHosts");

/** Gemini CLI and Copilot CLI take all arguments of a call, Codex only a new command. */
const policy = `version: 1
name: release
defaults:
  gate: { decision: escalate, reason: a human publishes }
  pre_prompt: allow
rules:
  - name: no-force
    when: { tool: bash, cel: 'args.command.contains("--force")' }
    then: { decision: block, reason: history is not rewritten }
  - name: dry-codex
    when: { tool: bash, cel: 'args.command == "./note.sh before" && metadata.host == "codex"' }
    then: { decision: modify, modified_payload: { arguments: { command: ./note.sh after } } }
  - name: dry-others
    when: { tool: bash, cel: 'args.command == "./note.sh before" && metadata.host != "codex"' }
    then: { decision: modify, modified_payload: { arguments: { command: ./note.sh after, description: a step } } }
`;

describe.each(runnableHosts.map(({ id }) => ({ id })))("the real $id under a hub", ({ id }) => {
  const program = programs[id];

  it.skipIf(program === undefined)(
    "is refused a forced push, runs a changed command, and publishes once, after the hub was killed and a human approved",
    async () => {
      const machine = await GuardedMachine.create(policy);
      const hub = await machine.startHub(startProcess);
      const isBack = createDeferred<void>();
      const run = machine.run(id, program as string, async ({ length }) => {
        if (length === 0) return { command: "git push --force origin main" };
        if (length === 1) return { command: "./note.sh before" };
        if (length === 2) return { command: "./publish.sh 1.0.0" };
        if (length === 3) {
          await isBack.promise;
          return { command: "./publish.sh 1.0.0" };
        }
        return { say: "done" };
      });
      const first = await machine.client();
      const early = run.then(({ output }) => Promise.reject(new TypeError(`the agent ended: ${output}`)));
      const asked = await Promise.race([machine.pending(first), early]);
      expect(asked.subject.input.command).toBe("./publish.sh 1.0.0");
      hub.kill("SIGKILL");
      await hub.ended;
      await machine.startHub();
      const client = await machine.client();
      // The question of the hub that was killed stands.
      expect((await machine.pending(client)).id).toBe(asked.id);
      isBack.resolve();
      const answered = await machine.harness("inbox", "--approve", asked.id);
      expect([answered.code, answered.stderr]).toEqual([0, ""]);
      const { code, outputs } = await run;
      expect(code).toBe(0);
      expect(outputs[0]).toContain("history is not rewritten");
      expect(outputs[2]).toContain("the hub closed the connection");
      expect(await machine.lines("note")).toEqual(["after"]);
      expect(await machine.lines("publish")).toEqual(["1.0.0"]);

      const { records } = await client.call("inbox.list");
      expect(records).toHaveLength(1);
      expect(records[0]).toMatchObject({ id: asked.id, status: "approved", effect: "done" });
      const { rows } = await client.call("timeline.page", { filter: { agent: id } });
      const actions = rows.filter(({ type }) => type === "pre_action").reverse();
      expect(actions[0]).toMatchObject({
        state: "refused",
        decision: { decision: "block", rule: "no-force" },
      });
      expect(actions[1]).toMatchObject({ state: "done", decision: { decision: "modify" } });
      expect(actions.at(-1)).toMatchObject({
        state: "done",
        decision: { decision: "allow", source: "approval" },
      });
      const { agents } = await client.call("agents.list");
      expect(agents.find(({ agent }) => agent === id)?.protection.kind).toBe("hook");
    },
    180_000,
  );
});

describe("the real codex while its human is away", () => {
  const program = programs.codex;

  it.skipIf(program === undefined)(
    "is refused with a ticket before it stops waiting, and the repeated call gets the recorded answer once",
    async () => {
      const machine = await GuardedMachine.create(policy);
      await machine.startHub();
      const client = await machine.client();
      const publish = { command: "./publish.sh 2.0.0" };
      const { outputs } = await machine.run(
        "codex",
        program as string,
        async ({ length }) => {
          if (length === 1) {
            const { id, digest } = await machine.pending(client);
            await client.call("inbox.answer", { id, digest, decision: "approve" });
          }
          return length < 3 ? publish : { say: "done" };
        },
        { wait: "5" },
      );
      const ticket = /approval \S+ is pending.*repeat the same call/;
      expect(outputs[0]).toMatch(ticket);
      expect(outputs[1]).not.toMatch(ticket);
      expect(outputs[2]).toMatch(ticket);
      expect(await machine.lines("publish")).toEqual(["2.0.0"]);
    },
    180_000,
  );
});
