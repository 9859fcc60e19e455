import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { expect, it, onTestFinished } from "vitest";
import { makeWorkspace } from "./support/harness.ts";
import { pendingOf, startHub } from "./support/hub.ts";
import { startAtTerminal, startHarness } from "./support/in-process.ts";

it("stops a run from the hub, and gives it a prompt that waits in its thread", async () => {
  const cwd = await makeWorkspace();
  const { env, client } = await startHub(cwd);
  const running = startHarness(["run", "run the command: echo hi > out.txt"], { cwd, env, input: "" });
  const { origin } = await pendingOf(client, "harness");
  const of = { agent: "harness", session: origin.session };
  await expect
    .poll(async () => (await client.call("agents.list")).agents[0]?.controllable, { timeout: 15_000 })
    .toContain(origin.session);
  const message = { ...of, action: "message", text: "run the command: echo later" } as const;
  expect(await client.call("agents.control", message)).toEqual({ ok: true });
  expect(await client.call("agents.control", { ...of, action: "stop" })).toEqual({ ok: true });
  const { code, stderr } = await running.ended;
  expect([code, stderr]).toEqual([expect.any(Number), expect.stringMatching(/cancel|stopp/i)]);
  expect(code).not.toBe(0);
  const { records } = await client.call("inbox.list");
  expect(records[0]).toMatchObject({ id: expect.any(String), status: "withdrawn" });
}, 60_000);

it("gives a grant for the shortest safe pattern at the terminal", async () => {
  const cwd = await makeWorkspace({
    "policy.yaml": "version: 1\nname: mine\ndefaults: { gate: escalate }\nrules: []\n",
  });
  const { env, client, place } = await startHub(cwd, ["--policy", join(cwd, "policy.yaml")]);
  const inbox = startAtTerminal(["inbox", "--watch"], { cwd, env });
  const agent = createAhpClient({
    transport: createUnixTransport({ path: place.socket, framing: "newline" }),
    ...{ framework: "test", version: "1.0.0", agentId: "codex", sessionId: "s1" },
  });
  onTestFinished(() => agent.close());
  await agent.connect();
  const decide = (command: string, id: string) =>
    agent.decide(
      "pre_action",
      { action_type: "tool_call", tool_name: "bash", arguments: { command }, tool_call_id: id } as never,
      { timeoutMs: 60_000 },
    );
  const asked = decide("npm test -- --watch", "c1");
  await inbox.sees(/Always npm test\* in this session/);
  inbox.write("\u001b[A\r");
  expect((await asked).decision).toMatchObject({ decision: "allow" });
  expect((await client.call("grants.list")).grants).toMatchObject([
    { grant: { session: "s1", match: { input: { command: { startsWith: "npm test" } } } } },
  ]);
  expect((await decide("npm test src", "c2")).decision).toMatchObject({ decision: "allow" });
  void decide("npm test; ls", "c3").catch(() => {});
  expect((await pendingOf(client, "codex")).subject.input).toEqual({ command: "npm test; ls" });
  inbox.write("\u0003");
  await inbox.ended;
}, 60_000);

it("saves a policy from its page into the file that the hub was started with", async () => {
  const cwd = await makeWorkspace();
  const file = join(cwd, "policy.yaml");
  const was = "version: 1\nname: mine\nrules: []\n";
  await writeFile(file, was);
  const { client } = await startHub(cwd, ["--policy", file]);
  const text = was.replace("rules: []", "rules: [{ name: all, then: allow }]");
  const { policy } = await client.call("policy.save", { text, was });
  expect(policy).toMatchObject({ text, canSave: true });
  expect(await readFile(file, "utf8")).toBe(text);
  // A change in an editor is not overwritten.
  await writeFile(file, `${text}# mine\n`);
  await expect(client.call("policy.save", { text: was, was: text })).rejects.toMatchObject({
    code: "policy_changed",
  });
}, 60_000);
