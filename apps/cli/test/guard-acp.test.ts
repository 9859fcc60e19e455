import { fileURLToPath } from "node:url";
import { methods } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { openEditor } from "./support/acp-editor.ts";
import { GuardedMachine } from "./support/guarded-agent.ts";
import { answerOf, eventually, failure, startProcess } from "./support/harness.ts";
import { startHarness } from "./support/in-process.ts";

const fixture = fileURLToPath(
  new URL("../../../packages/guard/test/fixtures/acp-agent.mjs", import.meta.url),
);
const agent = ["--", process.execPath, fixture];
const terminal = (command: string) => ({ terminal: { command } });

describe("harness guard acp", () => {
  it("refuses without the hub; with it a command waits in the inbox, also over its end, and runs once; a cancelled one is withdrawn", async () => {
    const machine = await GuardedMachine.create();
    const editor = await openEditor(["--name", "fix", ...agent], { cwd: machine.project, env: machine.env });
    expect(await editor.prompt("early")).toEqual({ stopReason: "refusal" });
    expect(editor.stderr()).toContain("start it: harness hub");

    const first = await machine.startHub(startProcess);
    const steps = (...all: object[]) => editor.prompt(JSON.stringify(all));
    const running = steps(terminal("git push --force origin main"), terminal("./publish.sh 1"));
    const asked = await machine.pending(await machine.client());
    expect(asked).toMatchObject({
      origin: { agent: "acp.fix", session: editor.session },
      subject: { tool: "bash", input: { command: "./publish.sh 1", cwd: machine.project } },
    });
    first.kill("SIGKILL");
    await first.ended;
    await machine.startHub(startProcess);
    const hub = await machine.client();
    expect((await machine.pending(hub)).id).toBe(asked.id);
    const terminals = () => editor.asked.filter(({ method }) => method === methods.client.terminal.create);
    expect(terminals()).toEqual([]);
    await hub.call("inbox.answer", { id: asked.id, digest: asked.digest, decision: "approve" } as never);
    expect(await running).toEqual({ stopReason: "end_turn" });
    expect(terminals().map(({ params }) => params.command)).toEqual(["./publish.sh 1"]);
    await eventually(async () => {
      const { records } = await hub.call("inbox.list");
      expect(records).toMatchObject([{ id: asked.id, status: "approved", effect: "done" }]);
    });
    const { rows } = await hub.call("timeline.page", { filter: { agent: "acp.fix" } });
    const actions = rows.filter(({ type }) => type === "pre_action").reverse();
    expect(actions[0]).toMatchObject({ state: "refused", decision: { rule: "destructive-commands" } });
    expect(actions.at(-1)).toMatchObject({ state: "done" });

    const again = steps(terminal("./publish.sh 2"));
    const { id } = await machine.pending(hub);
    await editor.agent.notify(methods.agent.session.cancel, { sessionId: editor.session });
    await again;
    const isWithdrawn = (one: string) =>
      eventually(async () => {
        const { records } = await hub.call("inbox.list", {});
        expect(records.find((record) => record.id === one)).toMatchObject({ status: "withdrawn" });
      });
    await isWithdrawn(id);
    void steps(terminal("./publish.sh 3")).catch(() => {});
    const left = await machine.pending(hub);
    editor.leave();
    expect(await editor.ended).toBe(0);
    await isWithdrawn(left.id);
  });

  it("says what is wrong with its options, and fails with its agent", async () => {
    const machine = await GuardedMachine.create();
    expect(await machine.harness("guard", "acp")).toMatchObject(failure(2, "Name the agent"));
    expect(await machine.harness("guard", "acp", "--", "/no/such/agent")).toMatchObject(
      failure(4, "was not found"),
    );
    // The editor is still there.
    const failed = startHarness(["guard", "acp", "--", process.execPath, "-e", "process.exit(3)"], {
      cwd: machine.project,
      env: machine.env,
    });
    expect(await failed.ended).toMatchObject(failure(1, "code 3"));
  });
});

describe("harness ahp check --agent acp", () => {
  it("takes a request of an ACP agent as it is", async () => {
    const machine = await GuardedMachine.create();
    const check = (message: object, name = "acp") =>
      startHarness(["ahp", "check", "--policy", "default", "--agent", name, "-"], {
        cwd: machine.project,
        env: machine.env,
        input: JSON.stringify({ jsonrpc: "2.0", id: 0, ...message }),
      }).ended;
    const push = { sessionId: "s", command: "git", args: ["push", "--force", "origin", "main"] };
    expect(await check({ method: "terminal/create", params: push })).toMatchObject(
      answerOf(3, "destructive-commands"),
    );
    const text = `[current working directory ${machine.project}]`;
    const content = [{ type: "content", content: { type: "text", text } }];
    const toolCall = { toolCallId: "c", kind: "execute", title: "git push --force origin main", content };
    const permission = {
      method: "session/request_permission",
      params: { sessionId: "s", toolCall, options: [] },
    };
    expect((await check(permission, "acp:gemini-cli")).stdout).toContain("destructive-commands");
    expect((await check(permission)).stdout).toContain("acp:execute");
    expect(await check({ method: "session/update", params: {} })).toMatchObject(
      failure(2, "no policy is asked about"),
    );
    expect(await check({ method: "terminal/create", params: {} })).toMatchObject(failure(2, "sessionId"));
  });
});
