import { once } from "node:events";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createWebSocketTransport } from "@harnesskit/transport-http/node";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  ahp,
  event,
  handshake,
  LineAgent,
  post,
  serveAhp,
  stateOf,
  who,
  withHarness,
} from "./support/ahp.ts";
import { failure, makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

const gone = { code: "ENOENT" };
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
const pathOf = (endpoint = ""): string => endpoint.slice("unix:".length);

describe("harness ahp serve", () => {
  it("serves every place at once, by the shipped policy", async () => {
    const served = await serveAhp(["--stdio", "--unix", "run/a.sock", "--http", "0"]);
    const { cwd, program, endpoints, tokenFile = "" } = served;
    expect(endpoints.map((endpoint) => endpoint.replace(/\d+\/ahp$/, ""))).toEqual([
      `unix:${join(cwd, "run/a.sock")}`,
      "http://127.0.0.1:",
      "ws://127.0.0.1:",
    ]);
    expect(program.stderr).toContain("policy coding-agent");
    const agent = LineAgent.ofProgram(program);
    expect(await agent.ask(handshake())).toMatchObject({
      id: "h",
      result: {
        protocol_version: "2.4",
        harness_info: { capabilities: expect.arrayContaining(["pre_action", "confirmation"]) },
        config: { timeout_ms: 10_000, batch_size: 100, max_depth: 10 },
      },
    });
    expect((await agent.ask(event("pre_action", {}, "1"))).result).toMatchObject({ decision: "escalate" });
    for (const endpoint of endpoints) {
      const verdict = await withHarness(endpoint, { tokenFile }, async (client) => {
        return client.decide("pre_action", { tool_name: "bash", arguments: { command: "rm -rf /" } });
      });
      expect(verdict, endpoint).toMatchObject({ origin: "harness", decision: { decision: "block" } });
    }
  });

  it("asks for the token that it made and named, and takes it away at the end", async () => {
    const { program, endpoints, tokenFile = "" } = await serveAhp(["--http", "0"]);
    const [http = "", ws = ""] = endpoints;
    expect([await modeOf(tokenFile), await modeOf(join(tokenFile, ".."))]).toEqual([0o600, 0o700]);
    const token = (await readFile(tokenFile, "utf8")).trim();
    for (const wrong of [undefined, "x".repeat(43)]) {
      expect((await post(http, handshake(), wrong)).status).toBe(401);
    }
    const shaken = await post(http, handshake(), token);
    expect([shaken.status, await shaken.json()]).toMatchObject([200, { id: "h", result: {} }]);
    const told = await post(http, event("post_action", { tool_name: "bash" }), token);
    expect([told.status, await told.text()]).toEqual([204, ""]);
    const asked = (access: { tokenFile?: string }) =>
      withHarness(ws, access, (client) => client.decide("pre_action", { tool_name: "bash" }));
    await expect(asked({})).rejects.toMatchObject({ code: "unauthorized" });
    expect(await asked({ tokenFile })).toMatchObject({
      origin: "harness",
      decision: { decision: "escalate" },
    });
    expect(program.stderr).not.toContain(token);
    program.kill("SIGINT");
    expect(await program.ended).toMatchObject({ code: 130, stdout: "" });
    await expect(stat(tokenFile)).rejects.toMatchObject(gone);
    await expect(fetch(http)).rejects.toBeInstanceOf(TypeError);
  });

  it("asks for the token of --token-file, which stays; makes it where there is none", async () => {
    const cwd = await makeWorkspace();
    const file = join(cwd, "private", "token");
    const own = "a-token/of+my%20own=&";
    const first = await serveAhp(["--http", "0", "--token-file", "private/token"], cwd);
    expect(first.tokenFile).toBe(file);
    const made = (await readFile(file, "utf8")).trim();
    expect((await post(first.endpoints[0] ?? "", handshake(), made)).status).toBe(200);
    first.program.kill("SIGTERM");
    await first.program.ended;
    await expect(stat(file)).rejects.toMatchObject(gone);
    await writeFile(file, `${own}\n`, { mode: 0o600 });
    const second = await serveAhp(["--http", "0", "--token-file", file], cwd);
    const [url = "", ws = ""] = second.endpoints;
    expect((await post(url, handshake(), own)).status).toBe(200);
    expect((await post(url, handshake(), made)).status).toBe(401);
    const connect = (credentials: { bearer: string } | { apiKey: string }) =>
      createWebSocketTransport({ url: ws, credentials, credentialsIn: "query" }).connect();
    for (const credentials of [{ bearer: own }, { apiKey: own }]) {
      await (await connect(credentials)).close();
    }
    await expect(connect({ bearer: made })).rejects.toMatchObject({ code: "unauthorized" });
    second.program.kill("SIGTERM");
    await second.program.ended;
    expect(await readFile(file, "utf8")).toBe(`${own}\n`);
  });

  it.each([
    ["is open to other users", "a-token-of-my-own\n", 0o644, "open to other users"],
    ["is short", "short\n", 0o600, "less than 16 characters"],
    ["is empty", "", 0o600, "holds no token"],
    ["is a text", "two words and more\n", 0o600, "holds no token"],
    ["is large", "x".repeat(5000), 0o600, "more than 4096 bytes"],
  ])("refuses a token that %s with exit code 2", async (_what, text, mode, message) => {
    const cwd = await makeWorkspace();
    const file = join(cwd, "token");
    await writeFile(file, text, { mode });
    await chmod(file, mode);
    const end = await ahp(["serve", "--http", "0", "--token-file", file], cwd);
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toContain(message);
    expect(end.stderr).not.toContain("a-token-of-my-own");
  });

  it("ends with its input, what was asked being answered", async () => {
    const cwd = await makeWorkspace();
    const asked = event("pre_action", { tool_name: "bash", arguments: { command: "sudo ls" } }, "1");
    const lines = [handshake(), asked, event("post_action")];
    const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const end = await ahp(["serve", "--stdio"], cwd, input);
    expect(end).toMatchObject({ code: 0, signal: null });
    expect(end.stderr).toContain("pre_action bash → block by privileged-commands");
    const replies = end.stdout.trim().split("\n");
    expect(replies.map((line) => JSON.parse(line))).toMatchObject([
      { id: "h", result: { harness_info: { name: "harness-ahp" } } },
      { id: "1", result: { decision: "block", reason: expect.any(String) } },
    ]);
  });

  it("outlives its input where another place is left", async () => {
    const { program, endpoints } = await serveAhp(["--stdio", "--unix", "run/a.sock"]);
    program.endInput(`${JSON.stringify(handshake("last"))}\n`);
    await program.sees(/"id":"last","result"/);
    const agent = LineAgent.ofSocket(pathOf(endpoints[0]));
    expect(await agent.ask(handshake())).toMatchObject({ id: "h", result: {} });
    program.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, signal: null });
  });

  it("says what happens in safe lines that hold no payload, unless it is --quiet", async () => {
    const say = async (args: string[]) => {
      const { program } = await serveAhp(["--stdio", "--audit", "logs/a.jsonl", ...args]);
      const agent = LineAgent.ofProgram(program);
      await agent.ask(handshake());
      const action = { tool_name: "ba\u001b[31msh\nx", arguments: { command: "swordfish" } };
      await agent.ask(event("pre_action", action, "1"));
      await agent.ask(event("post_action", {}, "2"));
      await agent.ask("no message");
      program.endInput();
      return (await program.ended).stderr.split("\n");
    };
    const lines = await say([]);
    const found = lines.map((line) => line.replace(/\d\d:\d\d:\d\d/, "TIME"));
    expect(found.slice(2)).toEqual([
      "harness ahp: TIME handshake 2.4 (session session-1, agent agent-1)",
      "harness ahp: TIME pre_action ba⟨U+001B⟩[31msh⏎ x → escalate by the default (session session-1, agent agent-1)",
      "harness ahp: TIME refused: event post_action: notification_expected (session session-1, agent agent-1)",
      "harness ahp: TIME refused: message: not_json",
      "",
    ]);
    expect((await say(["--quiet"])).slice(2)).toEqual([""]);
  });

  it("records decisions in a log of the user's that is sealed at the end, one for each harness", async () => {
    const cwd = await makeWorkspace();
    const first = await serveAhp(["--unix", "run/a.sock"], cwd);
    const second = await serveAhp(["--stdio"], cwd);
    const logs = ["ahp.jsonl", "ahp-2.jsonl"].map((name) => join(stateOf(cwd), "harnesskit", "audit", name));
    for (const [index, { program }] of [first, second].entries()) {
      expect(program.stderr).toContain(`audit log ${logs[index]}\n`);
    }
    const agent = LineAgent.ofProgram(second.program);
    await agent.ask(handshake());
    await agent.ask(event("pre_action", { arguments: "swordfish" }, "1"));
    for (const { program } of [first, second]) {
      program.kill("SIGTERM");
      expect((await program.ended).code).toBe(0);
    }
    for (const log of logs) {
      expect(await harness(["audit", "verify", log], { cwd })).toMatchObject({ code: 0, stderr: "" });
      expect(await readFile(log, "utf8")).not.toContain("swordfish");
    }
    const shown = await harness(["audit", "show", logs[1] ?? "", "--json"], { cwd });
    const entries = shown.stdout.trim().split("\n");
    const ofAgents = (entry: { readonly action: string }) => entry.action.startsWith("ahp.");
    expect(entries.map((line) => JSON.parse(line)).filter(ofAgents)).toMatchObject([
      { action: "ahp.policy", outcome: "ok", details: { name: "coding-agent" } },
      { action: "ahp.handshake", outcome: "ok", ...who },
      { action: "ahp.event", outcome: "ok", details: { event_type: "pre_action", decision: "escalate" } },
    ]);
  });

  it("does not start without its audit log", async () => {
    const cwd = await makeWorkspace();
    expect(await ahp(["serve", "--stdio", "--audit", "README.md/a.jsonl"], cwd)).toMatchObject(
      failure(4, "Name another file: --audit FILE"),
    );
    await writeFile(stateOf(cwd), "no directory");
    expect(await ahp(["serve", "--stdio"], cwd)).toMatchObject(failure(4, "--audit FILE"));
  });

  it("refuses a port that is taken with exit code 4, and gives back what it had", async () => {
    const cwd = await makeWorkspace();
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    expect(await ahp(["serve", "--unix", "run/a.sock", "--http", String(port)], cwd)).toMatchObject(
      failure(4, "--http 0"),
    );
    await expect(stat(join(cwd, "run/a.sock"))).rejects.toMatchObject(gone);
  });
});
