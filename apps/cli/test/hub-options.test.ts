import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { hubPlace } from "@harnesskit/hub/place";
import { hubPaths } from "@harnesskit/protocol/hub";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { qrLines } from "../src/hub/devices.ts";
import { findHub, requireHub } from "../src/hub/find-hub.ts";
import { makeWorkspace } from "./support/harness.ts";
import { agentOf, pendingOf, startHub } from "./support/hub.ts";
import { harness, startAtTerminal, startHarness } from "./support/in-process.ts";

it("stops a run from the hub, and gives it a prompt that waits in its thread", async () => {
  const cwd = await makeWorkspace();
  const { env, client } = await startHub(cwd);
  const running = startHarness("run 'run the command: echo hi > out.txt'", { cwd, env, input: "" });
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
  const inbox = startAtTerminal("inbox --watch", { cwd, env });
  const agent = await agentOf(place, "codex");
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

/** A stand-in of a service that takes webhooks. */
const startReceiver = async () => {
  const bodies: { readonly data: { readonly approvals: { title: string; answerLink: string }[] } }[] = [];
  const server = createHttpServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += String(chunk);
    });
    request.on("end", () => {
      bodies.push(JSON.parse(text));
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
};

it("harness hub --notify tells what waits, and its link answers the agent that is held", async () => {
  const cwd = await makeWorkspace();
  const receiver = await startReceiver();
  await writeFile(
    join(cwd, "notify.yaml"),
    `version: 1\ntargets: { phone: { kind: webhook, url: { env: HOOK_URL } } }\nnotify: [{ to: [phone] }]\nanswerLinks: { forMinutes: 5 }\n`,
  );
  const env = { XDG_STATE_HOME: join(cwd, "state"), BROWSER: "", HOOK_URL: receiver.url };
  const program = startHarness("hub --quiet --notify notify.yaml", { cwd, env });
  await program.reports(/page: http:\/\/127\.0\.0\.1:\d+/);
  const agent = await agentOf(hubPlace({ env }), "codex");
  const asking = agent.decide("pre_action", {
    ...{ action_type: "tool_call", tool_name: "deploy", tool_call_id: "c1" },
    arguments: { to: "production" },
  });
  await expect.poll(() => receiver.bodies.length).toBe(1);
  const [approval] = receiver.bodies[0]?.data.approvals ?? [];
  expect(approval?.title).toBe("deploy: call it with this input");
  const link = new URL(approval?.answerLink ?? "");
  const said = await fetch(new URL(hubPaths.answer, link), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: link.hash.slice(1), decision: "approve" }),
  });
  expect(said.status).toBe(200);
  expect((await asking).decision).toMatchObject({ decision: "allow" });
});

const publicUrl = "https://hub.example.org";

/** Pairs as the page on the phone does, behind a proxy with TLS. */
const redeem = async (url: string, link: string, origin = publicUrl) => {
  const response = await fetch(new URL(hubPaths.pair, url), {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify({ code: link.trim().split("#pair=")[1], name: "Pixel" }),
  });
  return {
    status: response.status,
    token: response.ok ? ((await response.json()) as { token: string }).token : "",
  };
};

describe("harness hub --pair", () => {
  it("shows a code for a phone, which is listed, revoked and then refused", async () => {
    const cwd = await makeWorkspace();
    const { env, url, program } = await startHub(cwd, ["--public-url", publicUrl]);
    const run = (...args: string[]) => harness(["hub", ...args], { cwd, env });
    expect((await run("devices")).stdout).toBe("No devices are paired. To pair one: harness hub --pair\n");
    const paired = await run("--pair", "Anna's phone", "--up-to", "medium");
    expect(paired.code).toBe(0);
    expect(paired.stdout).toMatch(/^https:\/\/hub\.example\.org\/#pair=(\w{4}-){2}\w{4}\n$/);
    expect(paired.stderr).toContain(qrLines(paired.stdout.trim(), false).join("\n"));
    expect(paired.stderr.replace(/\s+/g, " ")).toContain(
      "may answer up to a medium risk, within five minutes",
    );
    const { status, token } = await redeem(url, paired.stdout);
    expect(status).toBe(200);
    await program.reports(/pair: device dev_\S+, name Anna's phone, may answer, upTo medium/);
    const listed = await run("devices");
    expect(listed.stdout).toMatch(
      /^dev_\S+ {2}Anna's phone: may answer up to a medium risk; seen .+ ago, at https:\/\/hub\.example\.org\n$/,
    );
    const [device] = (await run("devices", "--json")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(device).toMatchObject({ name: "Anna's phone", isConnected: false });
    expect((await run("devices", "--revoke", device.id)).stdout).toMatch(/revoked .+ ago/);
    const refused = await fetch(new URL(hubPaths.ticket, url), {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, origin: publicUrl },
    });
    expect(refused.status).toBe(401);
    await program.reports(/refused: reason device_revoked/);
    const none = await run("devices", "--revoke", "dev_0");
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("There is no device dev_0")]);
  }, 120_000);

  it("is refused without TLS, by a hub that runs and by one that would start, and says what to do", async () => {
    const cwd = await makeWorkspace();
    const { env } = await startHub(cwd);
    const running = await harness("hub --pair", { cwd, env });
    const own = { ...env, XDG_STATE_HOME: join(cwd, "other") };
    const starting = await harness("hub --pair --public-url http://hub.example.org", { cwd, env: own });
    for (const { code, stdout, stderr } of [running, starting]) {
      expect([code, stdout]).toEqual([2, ""]);
      // Nothing was started for it.
      expect(stderr).toMatch(
        /^harness: --pair needs a hub with TLS.*\n {2}For example, first: cloudflared tunnel/,
      );
    }
  }, 120_000);
});

it("says that a hub had another policy before, until it is started with one or with none on purpose", async () => {
  const cwd = await makeWorkspace();
  const policy = join(cwd, "own policy.yaml");
  await writeFile(policy, "version: 1\nname: own\nrules: []\n");
  const run = async (...args: string[]) => {
    const { program, client } = await startHub(cwd, args);
    const { formerPolicy } = client.introduction?.hub ?? {};
    await client.close();
    program.kill("SIGTERM");
    const { stderr } = await program.ended;
    return { formerPolicy, isSaid: stderr.includes("careful: this hub had the policy"), stderr };
  };
  expect(await run("--policy", "own policy.yaml")).toMatchObject({ formerPolicy: undefined, isSaid: false });
  for (const _ of [1, 2]) {
    const { formerPolicy, stderr } = await run();
    expect(formerPolicy).toEqual({ file: policy, start: `hub --policy '${policy}'` });
    expect(stderr).toContain(
      `careful: this hub had the policy ${policy} before; now the shipped one decides`,
    );
  }
  expect(await run("--policy", "default")).toMatchObject({ formerPolicy: undefined, isSaid: false });
  expect(await run()).toMatchObject({ formerPolicy: undefined, isSaid: false });
}, 60_000);

/** A program that takes connections where a hub's socket would be, in a directory of these rights. */
const plantHub = async (mode: number) => {
  const directory = await temporaryDirectory();
  const state = `${directory.path}/hub`;
  const { socket } = hubPlace({ state });
  await mkdir(dirname(socket));
  await chmod(dirname(socket), mode);
  let connections = 0;
  const server = createServer((connection) => {
    connections += 1;
    connection.on("error", () => {});
  });
  await new Promise<void>((done) => server.listen(socket, done));
  onTestFinished(async () => {
    await new Promise((done) => server.close(done));
    await directory[Symbol.asyncDispose]();
  });
  return { state, connections: () => connections };
};

it.each([0o777, 0o770, 0o711])(
  "a hub in a directory that others can use (%o) is not believed",
  async (mode) => {
    const { state, connections } = await plantHub(mode);
    const refusal = { name: "CliError", code: "insecure_directory", exitCode: 4 };
    await expect(findHub(state)).rejects.toMatchObject(refusal);
    await expect(requireHub(state)).rejects.toMatchObject(refusal);
    expect(connections()).toBe(0);
  },
);

it("a hub in a directory of its user alone is found", async () => {
  const { state } = await plantHub(0o700);
  expect((await findHub(state))?.directory).toBe(state);
});
