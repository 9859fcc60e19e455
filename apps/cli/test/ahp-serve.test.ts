import { once } from "node:events";
import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  ahp,
  event,
  handshake,
  LineAgent,
  post,
  serveAhp,
  startAhp,
  stateOf,
  who,
  withHarness,
} from "./support/ahp.ts";
import { makeWorkspace, type RunningProgram } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

const gone = { code: "ENOENT" };
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
const pathOf = (endpoint = ""): string => endpoint.slice("unix:".length);

const entriesOf = async (file: string, what: string): Promise<object[]> =>
  (await readFile(file, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { action: string })
    .filter(({ action }) => action === what);

const lifecycle = {
  run_id: "run-1",
  session_id: who.session_id,
  status: "executing",
  updated_at: "2026-01-01T00:00:00Z",
};

describe("harness ahp serve", () => {
  it("serves every place at once, and what one agent tells is known in all", async () => {
    const served = await serveAhp(["--stdio", "--unix", "run/a.sock", "--http", "0", "--ws", "0"]);
    const { cwd, program, endpoints, tokenFile = "" } = served;
    expect(endpoints.map((endpoint) => endpoint.replace(/\d+\/ahp$/, ""))).toEqual([
      `unix:${join(cwd, "run/a.sock")}`,
      "http://127.0.0.1:",
      "ws://127.0.0.1:",
    ]);
    const agent = LineAgent.ofProgram(program);
    expect(await agent.ask(handshake())).toMatchObject({
      id: "h",
      result: {
        protocol_version: "2.4",
        harness_info: { capabilities: expect.arrayContaining(["pre_action", "query", "confirmation"]) },
        config: { timeout_ms: 10_000, batch_size: 100, max_depth: 10 },
      },
    });
    agent.tell(event("run_lifecycle", lifecycle));
    expect((await agent.ask(event("pre_action", {}, "1"))).result).toMatchObject({ decision: "escalate" });
    for (const endpoint of endpoints) {
      const found = await withHarness(endpoint, { tokenFile }, async (client) => {
        return client.query("run", { run_id: "run-1" });
      });
      expect(found, endpoint).toMatchObject({
        answer: { run_id: "run-1", agent_id: who.agent_id, status: "executing", lifecycle },
      });
    }
  });

  it("speaks in lines on a socket that only its user can open, and removes it at the end", async () => {
    const { program, endpoints } = await serveAhp(["--unix", "run/a.sock", "--unix", "run/b.sock"]);
    for (const endpoint of endpoints) {
      const path = pathOf(endpoint);
      expect([await modeOf(path), await modeOf(join(path, ".."))]).toEqual([0o600, 0o700]);
      const agent = LineAgent.ofSocket(path);
      expect((await agent.ask(event("pre_action", {}, "0"))).error).toMatchObject({
        code: -32600,
        data: { reason: "handshake_required" },
      });
      expect((await agent.ask(handshake("h", "3.0"))).error).toMatchObject({ code: -32000 });
      expect((await agent.ask("{")).error).toMatchObject({ code: -32700 });
      expect((await agent.ask(handshake())).result).toMatchObject({ protocol_version: "2.4" });
      expect((await agent.ask(event("pre_prompt", {}, "1"))).result).toMatchObject({ decision: "escalate" });
    }
    program.child.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, signal: null, stdout: "" });
    for (const endpoint of endpoints) await expect(stat(pathOf(endpoint))).rejects.toMatchObject(gone);
  });

  it("asks for the token that it made and named, and takes it away at the end", async () => {
    const { program, endpoints, tokenFile = "", cwd } = await serveAhp(["--http", "0", "--ws", "0"]);
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
    for (const [key, status] of [[token, 200] as const, ["x".repeat(43), 401] as const]) {
      const headers = { "content-type": "application/json", "x-api-key": key };
      const byKey = await fetch(http, { method: "POST", headers, body: JSON.stringify(handshake()) });
      expect(byKey.status).toBe(status);
    }
    expect((await post(http.replace(/ahp$/, ""), handshake(), token)).status).toBe(404);
    expect((await post(ws.replace("ws:", "http:"), handshake(), token)).status).not.toBe(200);
    const wrongFile = join(cwd, "wrong");
    await writeFile(wrongFile, `${"x".repeat(43)}\n`);
    const asked = (access: { tokenFile?: string }) =>
      withHarness(ws, access, (client) => client.decide("pre_action", { tool_name: "bash" }));
    for (const access of [{}, { tokenFile: wrongFile }]) {
      await expect(asked(access)).rejects.toMatchObject({ code: "unauthorized" });
    }
    expect(await asked({ tokenFile })).toMatchObject({
      origin: "harness",
      decision: { decision: "escalate" },
    });
    expect(program.stderr).not.toContain(token);
    program.child.kill("SIGINT");
    expect(await program.ended).toMatchObject({ code: 130, stdout: "" });
    await expect(stat(tokenFile)).rejects.toMatchObject(gone);
    await expect(fetch(http)).rejects.toBeInstanceOf(TypeError);
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
    const lines = [handshake(), event("pre_action", {}, "1"), event("post_action")];
    const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const end = await ahp(["serve", "--stdio", "--default", "block"], cwd, input);
    expect(end).toMatchObject({ code: 0, signal: null });
    expect(end.stderr).toContain("pre_action → block");
    const replies = end.stdout.trim().split("\n");
    expect(replies.map((line) => JSON.parse(line))).toMatchObject([
      { id: "h", result: { harness_info: { name: "harness-ahp" } } },
      { id: "1", result: { decision: "block", reason: expect.stringContaining("--default block") } },
    ]);
  });

  it("outlives its input where another place is left", async () => {
    const { program, endpoints } = await serveAhp(["--stdio", "--unix", "run/a.sock"]);
    program.child.stdin?.end(`${JSON.stringify(handshake("last"))}\n`);
    await program.sees(/"id":"last","result"/);
    const agent = LineAgent.ofSocket(pathOf(endpoints[0]));
    expect(await agent.ask(handshake())).toMatchObject({ id: "h", result: {} });
    program.child.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, signal: null });
  });

  it.each([
    ["allow", "allow", "approve", "allow"],
    ["block", "block", "reject", "defer"],
    ["escalate", "escalate", "escalate", "defer"],
  ])("answers what asks for permission with --default %s", async (decision, gate, confirmation, idle) => {
    const { program } = await serveAhp(["--stdio", "--default", decision]);
    const agent = LineAgent.ofProgram(program);
    await agent.ask(handshake());
    const ask = async (type: string, payload?: object) =>
      (await agent.ask(event(type, payload, type))).result;
    const message = { session_id: "s", confirmation_type: "user_confirm", message: "Sure?" };
    expect(await ask("pre_action", { tool_name: "bash" })).toMatchObject({ decision: gate });
    expect(await ask("pre_prompt")).toMatchObject({ decision: gate });
    expect(await ask("confirmation", message)).toMatchObject({ decision: confirmation });
    expect(await ask("idle", { idle_duration_ms: 1, idle_reason: "none" })).toMatchObject({ decision: idle });
    const limit = { session_id: "s", limit_type: "llm_token_limit", retry_after_ms: 1, current_usage: "all" };
    expect((await agent.ask(event("rate_limit", limit, "r"))).error).toMatchObject({
      code: -32603,
      data: { reason: "not_supported" },
    });
    const events = ["pre_action", "post_action"].map((type) => event(type).params);
    const batch = await agent.ask({ jsonrpc: "2.0", id: "b", method: "ahp/batch", params: { events } });
    expect(batch.result).toMatchObject({ decisions: [{ decision: gate }, { decision: "allow" }] });
    const query = (type: string, payload = {}) =>
      agent.ask({
        jsonrpc: "2.0",
        id: type,
        method: "ahp/query",
        params: { ...who, query_type: type, payload },
      });
    agent.tell(event("run_lifecycle", { ...lifecycle, status: "completed" }));
    expect((await query("runs", { is_finished: false })).result).toEqual({ answer: [] });
    expect((await query("runs")).result).toMatchObject({ answer: [{ run_id: "run-1", is_finished: true }] });
    expect((await query("run", { run_id: "other" })).result).toMatchObject({ answer: null });
    expect((await query("stats")).result).toMatchObject({ answer: { handshakes: 1, batches: 1, runs: 1 } });
    expect((await query("weather")).result).toEqual({
      answer: null,
      reason: "this harness answers queries of type runs, run and stats",
    });
    program.child.stdin?.end();
    expect((await program.ended).code).toBe(0);
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
      program.child.stdin?.end();
      return (await program.ended).stderr.split("\n");
    };
    const lines = await say([]);
    const found = lines.map((line) => line.replace(/\d\d:\d\d:\d\d/, "TIME"));
    expect(found.slice(2)).toEqual([
      "harness ahp: TIME handshake 2.4 (session session-1, agent agent-1)",
      "harness ahp: TIME pre_action ba⟨U+001B⟩[31msh⏎ x → escalate (session session-1, agent agent-1)",
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
      program.child.kill("SIGTERM");
      expect((await program.ended).code).toBe(0);
    }
    for (const log of logs) {
      expect(await harness(["audit", "verify", log], { cwd })).toMatchObject({ code: 0, stderr: "" });
      expect(await readFile(log, "utf8")).not.toContain("swordfish");
    }
    const shown = await harness(["audit", "show", logs[1] ?? "", "--action", "ahp.*", "--json"], { cwd });
    const entries = shown.stdout.trim().split("\n");
    expect(entries.map((line) => JSON.parse(line))).toMatchObject([
      { action: "ahp.handshake", outcome: "ok", ...who },
      { action: "ahp.event", outcome: "ok", details: { event_type: "pre_action", decision: "escalate" } },
    ]);
  });

  it("does not start without its audit log", async () => {
    const cwd = await makeWorkspace();
    const named = await ahp(["serve", "--stdio", "--audit", "README.md/a.jsonl"], cwd);
    expect(named).toMatchObject({ code: 4, stdout: "" });
    expect(named.stderr).toContain("Name another file: --audit FILE");
    await writeFile(stateOf(cwd), "no directory");
    const byDefault = await ahp(["serve", "--stdio"], cwd);
    expect(byDefault).toMatchObject({ code: 4, stdout: "" });
    expect(byDefault.stderr).toContain("--audit FILE");
  });

  it.each([
    [[], "Say where to serve"],
    [["--http", "x"], '--http must be a number from 0 to 65535, got "x"'],
    [["--http", "65536"], "from 0 to 65535"],
    [["--ws", "-1"], '--ws must be a number from 0 to 65535, got "-1"'],
    [["--http", "8123", "--ws", "8123"], "The port 8123 is given twice"],
    [["--ws", "8123", "--ws", "8123"], "The port 8123 is given twice"],
    [["--unix", ""], "the path is empty"],
    [["--unix", "x".repeat(200)], "choose a shorter directory"],
    [["--unix", "README.md"], "is not a socket and was left alone"],
    [["--stdio", "--default", "maybe"], "Allowed choices are allow, block, escalate"],
    [["--stdio", "--token-file", "t"], "belongs to --http or --ws"],
    [["--stdio", "--host", "0.0.0.0"], "--host belongs to --http or --ws"],
    [["--http", "0", "--host", "localhost"], "--host: localhost is not an address"],
    [["--http", "0", "--host", "0.0.0.0"], "other machines can reach it, so that it needs --token-file"],
    [["--ws", "0", "--host", "::"], "other machines can reach it, so that it needs --token-file"],
    [["--stdoi"], "Did you mean --stdio?"],
  ])("%j is wrong usage", async (args, text) => {
    const cwd = await makeWorkspace();
    await chmod(cwd, 0o700);
    const end = await ahp(["serve", ...args], cwd);
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toContain(text);
    expect(end.stderr).not.toMatch(/\n\s+at /);
  });

  it("listens on the address of --host, asks for the token there, and says what that opens", async () => {
    const { cwd, program, endpoints } = await serveAhp([
      "--http",
      "0",
      "--host",
      "0.0.0.0",
      "--token-file",
      "t",
    ]);
    expect(program.stderr).toContain("OPEN TO OTHER MACHINES at 0.0.0.0: any client with the token");
    const port = /:(\d+)\/ahp$/.exec(endpoints[0] ?? "")?.[1];
    const outside = Object.values(networkInterfaces())
      .flatMap((found) => found ?? [])
      .find(({ family }) => family === "IPv4");
    const url = `http://${outside?.address}:${port}/ahp`;
    const token = (await readFile(join(cwd, "t"), "utf8")).trim();
    expect((await post(url, handshake())).status).toBe(401);
    expect((await post(url, handshake(), token)).status).toBe(200);
    const misled = await new Promise<number | undefined>((resolve) => {
      const headers = { host: `rebound.example:${port}`, authorization: `Bearer ${token}` };
      get({ port, host: outside?.address, path: "/ahp", headers }, ({ statusCode }) => resolve(statusCode));
    });
    expect(misled).toBe(403);
    const own = await serveAhp(["--http", "0", "--host", "127.0.0.2"]);
    expect(own.endpoints[0]).toMatch(/^http:\/\/127\.0\.0\.2:/);
    expect(own.program.stderr).not.toContain("OPEN TO");
  });

  it.each([
    [[], "NO POLICY (--policy FILE): every question of an agent is escalated"],
    [["--default", "allow"], "every question of an agent is answered with ALLOW"],
    [["--policy", "default"], "policy coding-agent"],
  ])("says at its start what it goes by: %j", async (args, text) => {
    const end = await ahp(["serve", "--stdio", ...args], await makeWorkspace());
    expect(end.stderr.split("\n")[0]).toContain(text);
  });

  it("knows runs again after it was killed, beside its audit log; --no-state forgets them", async () => {
    const cwd = await makeWorkspace();
    const serve = ["--unix", "run/a.sock", "--audit", "logs/a.jsonl"];
    const tell = async (payload: object, type = "run_lifecycle") => {
      const agent = LineAgent.ofSocket(join(cwd, "run/a.sock"));
      await agent.ask(handshake());
      agent.tell(event(type, payload));
      // Once this is answered, the event was taken.
      await agent.ask(event("pre_action", {}, "1"));
    };
    const askFor = (type: string) =>
      withHarness(`unix:${join(cwd, "run/a.sock")}`, {}, async (client) => {
        return (await client.query(type, { run_id: "run-1" })).answer;
      });
    const kill = async ({ program }: { program: RunningProgram }) => {
      program.child.kill("SIGKILL");
      await program.ended;
    };
    const first = await serveAhp(serve, cwd);
    await tell(lifecycle);
    const checked = { ...lifecycle, status: "needs_review", residual_risks: ["not tried on a phone"] };
    await tell(checked, "verification");
    const before = await askFor("run");
    expect(before).toMatchObject({ status: "executing", residual_risks: 1, verifications: [checked] });
    await kill(first);

    const second = await serveAhp(serve, cwd);
    expect(second.program.stderr).toContain("keeps runs (1 from before)");
    expect(await askFor("run")).toEqual(before);
    await kill(second);

    const file = join(cwd, "logs/a.state.jsonl");
    expect([await modeOf(file)]).toEqual([0o600]);
    await writeFile(file, `{"kind":\n${await readFile(file, "utf8")}`);
    const third = await serveAhp(serve, cwd);
    expect(third.program.stderr).toContain("line 1 of the state's file a.state.jsonl cannot be read");
    expect(third.program.stderr).toContain("runs are forgotten at the end (state_damaged)");
    expect(await askFor("runs")).toEqual([]);
    third.program.child.kill("SIGTERM");
    expect((await third.program.ended).code).toBe(0);
    expect(await entriesOf(join(cwd, "logs/a.jsonl"), "ahp.state")).toMatchObject([
      { outcome: "failed", details: { reason: "state_damaged" } },
    ]);

    const fourth = await serveAhp([...serve, "--no-state"], cwd);
    expect(await askFor("runs")).toEqual([]);
    await kill(fourth);
    await rm(file);
    await mkdir(file);
    const fifth = await serveAhp(serve, cwd);
    expect(fifth.program.stderr).toContain("runs are forgotten at the end (state_unreadable)");
    await tell(lifecycle);
    expect(await askFor("runs")).toHaveLength(1);
  });

  it("refuses a port that is taken with exit code 4, and gives back what it had", async () => {
    const cwd = await makeWorkspace();
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    for (const option of ["--http", "--ws"]) {
      const end = await startAhp(["serve", "--unix", "run/a.sock", option, String(port)], cwd, "").ended;
      expect(end).toMatchObject({ code: 4, stdout: "" });
      expect(end.stderr).toContain(`${option} 0`);
      await expect(stat(join(cwd, "run/a.sock"))).rejects.toMatchObject(gone);
    }
  });

  it("ends at a signal with --stdio too", async () => {
    const cwd = await makeWorkspace();
    const program = startAhp(["serve", "--stdio"], cwd);
    const agent = LineAgent.ofProgram(program);
    await agent.ask(handshake());
    program.child.kill("SIGINT");
    expect(await program.ended).toMatchObject({ code: 130, signal: null });
  });
});
