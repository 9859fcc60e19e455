import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { type AhpClient, createAhpClient, type HarnessEndpoint } from "@harnesskit/ahp-client";
import { createHttpExchange } from "@harnesskit/transport-http/node";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { needPython } from "../../../../scripts/lib/python.ts";
import { directory, makeDirectory, python, serveHttp, token } from "./support/python.ts";

beforeEach(needPython);

const introduce = (endpoint: HarnessEndpoint, options: object = {}): AhpClient => {
  const client = createAhpClient({
    framework: "test",
    version: "1",
    reconnect: false,
    ...options,
    ...endpoint,
  });
  onTestFinished(() => client.close());
  return client;
};

const overStdio = async (options?: object): Promise<AhpClient> => {
  const args = python(join(directory, "harness.py"));
  const transport = createChildTransport({ command: "python3", args, stderr: "ignore" });
  return introduce({ transport }, options);
};

const overHttp = async (options?: object): Promise<AhpClient> => {
  const url = await serveHttp((await makeDirectory()).tokenFile);
  const exchange = createHttpExchange({ url, credentials: { bearer: token } });
  onTestFinished(() => exchange.close());
  return introduce({ exchange }, options);
};

const bash = (command: string) => ({ tool_name: "bash", arguments: { command } });

describe.each([
  ["standard input and output", overStdio],
  ["HTTP", overHttp],
])("the Python harness over %s", (_name, connect) => {
  it("decides for our client", async () => {
    const client = await connect();
    expect(await client.connect()).toMatchObject({
      protocol_version: "2.4",
      harness_info: { name: "python-harness", capabilities: expect.arrayContaining(["batch", "rate_limit"]) },
      config: { timeout_ms: 10_000, batch_size: 100, max_depth: 10 },
    });
    const decide = async (command: string) => client.decide("pre_action", bash(command));
    expect(await decide("ls")).toEqual({ origin: "harness", decision: { decision: "allow" } });
    expect(await decide("rm -rf /")).toMatchObject({
      origin: "harness",
      decision: { decision: "block", reason: "removes files without a way back" },
    });
    expect(await decide("sudo ls")).toMatchObject({ decision: { decision: "escalate" } });
    expect(await decide("git push ü\ud83d\ude00")).toMatchObject({
      decision: { decision: "modify", modified_payload: bash("git push ü\ud83d\ude00 --dry-run") },
    });
    expect(await client.decide("pre_prompt", { prompt: "the password is" })).toMatchObject({
      origin: "harness",
      decision: { decision: "block" },
    });
    const limit = {
      session_id: "s",
      limit_type: "api_request_limit",
      retry_after_ms: 70,
      current_usage: "",
    } as const;
    expect(await client.decide("rate_limit", limit)).toEqual({
      origin: "harness",
      decision: { decision: "retry", retry_after_ms: 70 },
    });
    const question = { session_id: "s", confirmation_type: "user_confirm", message: "Sure?" } as const;
    expect(await client.decide("confirmation", question)).toMatchObject({
      decision: { decision: "escalate" },
    });
    const idle = { idle_duration_ms: 1, idle_reason: "none" };
    expect(await client.decide("idle", idle)).toMatchObject({ decision: { decision: "allow" } });
  });

  it("decides a batch in its order, and what fails in it is blocked alone", async () => {
    const client = await connect();
    await client.connect();
    const verdicts = await client.batch([
      { event_type: "pre_action", payload: bash("ls") },
      { event_type: "pre_action", payload: { tool_name: "bash" } },
      { event_type: "post_action", payload: {} },
      { event_type: "pre_action", payload: bash("sudo ls") },
    ]);
    expect(verdicts.map(({ origin, decision }) => [origin, decision.decision])).toEqual([
      ["harness", "allow"],
      ["harness", "block"],
      ["harness", "allow"],
      ["harness", "escalate"],
    ]);
    expect(verdicts[1]?.decision).toMatchObject({ reason: "Handler error: the policy failed" });
  });

  it("takes notifications and keeps the runs that it is told of", async () => {
    const client = await connect();
    await client.connect();
    expect(client.notify("session_start", {})).toMatchObject({ accepted: true });
    const run = { run_id: "run-1", session_id: client.sessionId, updated_at: "2026-01-01T00:00:00Z" };
    client.notify("run_lifecycle", { ...run, status: "executing" });
    client.notify("run_lifecycle", { ...run, status: "created", updated_at: "2025-01-01T00:00:00Z" });
    client.notify("task_list", { ...run, tasks: [] });
    expect(await client.flush()).toBe(true);
    expect((await client.query("runs", "Which?")).answer).toMatchObject([
      { run_id: "run-1", run_lifecycle: { ...run, status: "executing" }, task_list: { tasks: [] } },
    ]);
    expect(client.stats()).toMatchObject({ notificationsLost: 0 });
  });

  it("never allows where it has no say", async () => {
    const client = await connect();
    await client.connect();
    const failed = await client.decide("pre_action", { no: "arguments" });
    expect(failed).toMatchObject({
      origin: "client",
      code: "harness_error",
      decision: { decision: "block" },
      error: { rpcCode: -32603 },
    });
    const plan = { session_id: "s", task_description: "t", available_strategies: ["none" as const] };
    expect(await client.decide("planning", plan)).toMatchObject({
      code: "not_handled",
      decision: { decision: "block" },
      error: { rpcMessage: "Handler error: Capability not supported: planning" },
    });
    const thought = { session_id: "s", reasoning_type: "reflexion", problem_statement: "p" } as const;
    expect(await client.decide("reasoning", thought)).toMatchObject({ code: "not_handled" });
    expect(await client.query("weather", "Rain?")).toEqual({
      answer: null,
      reason: "this harness answers queries of type runs",
    });
  });
});

const who = { session_id: "s", agent_id: "a" };
const event = (event_type: string, more: object = {}) => ({
  ...{ event_type, ...who, timestamp: "2026-01-01T00:00:00Z", depth: 0, payload: {} },
  ...more,
});
const call = (method: string, params: unknown, id: unknown = "1") => ({ jsonrpc: "2.0", id, method, params });
const tell = (params: unknown, method = "ahp/event") => ({ jsonrpc: "2.0", method, params });
const handshake = (version = "2.4") =>
  call("ahp/handshake", { ...who, protocol_version: version, agent_info: {} }, "h");

const wrongMessages: [string, unknown, number, string][] = [
  ["no JSON", "{", -32700, "not_json"],
  ["nesting without end", "[".repeat(100_000), -32700, "not_json"],
  ["no message", [1], -32600, "not_json_rpc"],
  ["an answer", { jsonrpc: "2.0", id: "1", result: {} }, -32600, "not_json_rpc"],
  ["another JSON-RPC", { ...call("ahp/query", {}), jsonrpc: "1.0" }, -32600, "not_json_rpc"],
  ["an id that is none", call("ahp/query", {}, [1]), -32600, "not_json_rpc"],
  ["what is too large", `"${"x".repeat(4_194_305)}"`, -32600, "message_too_large"],
  ["an unknown method", call("ahp/dance", {}), -32601, "unknown_method"],
  ["a method that is none", call([] as unknown as string, {}), -32601, "unknown_method"],
  ["an unknown type", call("ahp/event", event("dance")), -32602, "invalid_params"],
  ["a handshake as an event", call("ahp/event", event("handshake")), -32602, "invalid_params"],
  ["an event without a time", call("ahp/event", event("error", { timestamp: 1 })), -32602, "invalid_params"],
  ["a depth that is none", call("ahp/event", event("pre_action", { depth: true })), -32602, "invalid_params"],
  ["what is too deep", call("ahp/event", event("pre_action", { depth: 11 })), -32602, "depth_exceeded"],
  ["a notification as a request", call("ahp/event", event("error")), -32602, "notification_expected"],
  ["a query without a type", call("ahp/query", who), -32602, "invalid_params"],
  ["a batch of none", call("ahp/batch", { events: 1 }), -32602, "batch_too_large"],
  [
    "a batch that is too large",
    call("ahp/batch", { events: Array.from({ length: 101 }, () => event("error")) }),
    -32602,
    "batch_too_large",
  ],
  ["a batch with another decision", call("ahp/batch", { events: [event("idle")] }), -32602, "not_batchable"],
  [
    "a contract without its form in a batch",
    call("ahp/batch", { events: [event("task_list")] }),
    -32602,
    "invalid_params",
  ],
  ["another version", handshake("3.0"), -32000, "unsupported_version"],
  ["a version that is none", handshake(""), -32000, "unsupported_version"],
];

const toText = (message: unknown): string =>
  typeof message === "string" ? message : JSON.stringify(message);

describe("the Python harness", () => {
  it("refuses over a line what is wrong, and goes on", async () => {
    const child = spawn("python3", python("harness.py"), { cwd: directory });
    onTestFinished(() => void child.kill("SIGKILL"));
    const stderr = text(child.stderr);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (message: unknown) => {
      child.stdin.write(`${toText(message)}\n`);
      return JSON.parse((await lines.next()).value as string) as unknown;
    };
    expect(await ask(call("ahp/event", event("pre_action")))).toMatchObject({
      id: "1",
      error: { code: -32600, data: { reason: "handshake_required" } },
    });
    expect(await ask(handshake("3.0"))).toMatchObject({ id: "h", error: { code: -32000 } });
    expect(await ask(handshake("2.0"))).toMatchObject({ id: "h", result: { protocol_version: "2.4" } });
    for (const [what, message, code, reason] of wrongMessages) {
      expect(await ask(message), what).toMatchObject({ jsonrpc: "2.0", error: { code, data: { reason } } });
    }
    const refused = [
      tell(event("pre_action")),
      tell(event("run_lifecycle")),
      tell({}, "ahp/batch"),
      tell(1, "x"),
    ];
    for (const message of refused) child.stdin.write(`${toText(message)}\n`);
    const payload = bash("ls");
    const other = event("pre_action", { session_id: "another", payload });
    expect(await ask(call("ahp/event", other, 7))).toEqual({
      jsonrpc: "2.0",
      id: 7,
      result: { decision: "allow" },
    });
    expect(await ask(call("ahp/query", { ...who, query_type: "runs" }))).toMatchObject({
      result: { answer: [] },
    });
    const ended = once(child, "exit");
    child.stdin.end();
    expect([(await ended)[0], await stderr]).toEqual([0, ""]);
  });

  it("answers over HTTP with what fits: a status, an error or nothing", async () => {
    const url = await serveHttp((await makeDirectory()).tokenFile);
    const post = async (message: unknown, headers: Record<string, string> = {}, to = url) => {
      const bearer = { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers };
      const response = await fetch(to, { method: "POST", headers: bearer, body: toText(message) });
      const body = await response.text();
      return { status: response.status, body: body === "" ? undefined : (JSON.parse(body) as unknown) };
    };
    for (const authorization of ["", "Bearer", "Bearer wrong", `Basic ${token}`]) {
      expect(await post(handshake(), { authorization })).toEqual({ status: 401, body: undefined });
    }
    const payload = { tool_name: "bash", arguments: { command: "echo hello" } };
    const other = call("ahp/event", event("pre_action", { session_id: "another", payload }));
    expect(await post(other)).toMatchObject({
      status: 200,
      body: { error: { code: -32600, data: { reason: "handshake_required" } } },
    });
    expect((await post(handshake(), { authorization: "", "x-api-key": token })).status).toBe(200);
    // The token says who it is, whatever the session.
    expect(await post(other)).toMatchObject({ status: 200, body: { result: { decision: "allow" } } });
    expect((await post(handshake(), { "content-type": "text/plain" })).status).toBe(415);
    expect((await post(handshake(), {}, url.replace("/ahp", "/other"))).status).toBe(404);
    expect((await post(`"${"x".repeat(4_194_305)}"`)).status).toBe(413);
    expect((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status).toBe(501);
    for (const [what, message, code, reason] of wrongMessages) {
      if (reason === "message_too_large") continue;
      expect(await post(message), what).toMatchObject({
        status: 200,
        body: { error: { code, data: { reason } } },
      });
    }
    expect(await post(tell(event("error")))).toEqual({ status: 204, body: undefined });
    expect(await post(tell(event("verification")))).toMatchObject({
      status: 200,
      body: { id: "", error: { code: -32602 } },
    });
    expect(await post(call("ahp/event", event("idle")))).toMatchObject({
      body: { result: { decision: "allow" } },
    });
  });

  it("lets a refused client finish what it sends, and says that the connection ends", async () => {
    const { port, hostname, host } = new URL(await serveHttp((await makeDirectory()).tokenFile));
    const half = Buffer.alloc(100_000, "x");
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    const head = ["POST /ahp HTTP/1.1", `Host: ${host}`, `Content-Length: ${2 * half.length}`, "", ""];
    socket.write(head.join("\r\n"));
    socket.write(half);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 401 .*\r\nConnection: close\r\n/su);
    socket.end(half);
    expect(await once(socket, "close"), "without a reset").toEqual([false]);
  });

  it("is not open to a client without the token", async () => {
    const url = await serveHttp((await makeDirectory()).tokenFile);
    const exchange = createHttpExchange({ url, credentials: { bearer: "some-other-token-than-that" } });
    onTestFinished(() => exchange.close());
    await expect(introduce({ exchange }).connect()).rejects.toMatchObject({
      name: "AhpFailure",
      code: "unauthorized",
    });
  });
});
