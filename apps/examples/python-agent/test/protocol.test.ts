import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { needPython } from "../../../../scripts/lib/python.ts";
import { AgentProcess } from "./support/agent-process.ts";
import {
  type Connection,
  frameOf,
  type Message,
  messageOf,
  ScriptedCore,
  toFrame,
} from "./support/scripted-core.ts";

const token = "the-token-of-this-launch";
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const uuid = expect.stringMatching(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/) as string;

beforeEach(needPython);

/** An agent that has just connected to a core that the test plays. */
const connect = async (args?: readonly string[]) => {
  const core = await ScriptedCore.listen();
  const environment = { HARNESS_AGENT_SOCKET: core.socketPath, HARNESS_SESSION_TOKEN: token };
  const agent = new AgentProcess(environment, args);
  onTestFinished(async () => {
    await agent.clean();
    await core.close();
  });
  return { core, agent, connection: await core.accept() };
};

const serve = async (args?: readonly string[], welcome: object = {}) => {
  const connected = await connect(args);
  await connected.connection.welcome(welcome);
  return connected;
};

const callOf = (tool: string, input: unknown, more: object = {}): Message => {
  const call_id = crypto.randomUUID();
  const payload = { call_id, tool_id: `com.example.python/${tool}`, input, ...more };
  return messageOf("core.tool.call", payload, { request_id: `request of ${call_id}` });
};

const resultOf = async (connection: Connection, call: Message) => {
  const result = await connection.next("agent.tool.result", { call_id: call.payload.call_id });
  expect(result).toMatchObject({ in_reply_to: call.id, request_id: call.request_id });
  return result.payload;
};

const run = async (connection: Connection, call: Message) => {
  connection.write(call);
  return await resultOf(connection, call);
};

describe("the Python agent's session", () => {
  it("begins with a hello, registers the tools and tells its health", async () => {
    const { connection } = await connect();
    const { hello, register } = await connection.welcome({ heartbeat_interval_ms: 30, later_field: true });
    expect(connection.received[0]).toBe(hello);
    expect(hello).toEqual({
      v: 1,
      type: "agent.hello",
      id: uuid,
      ts: timestamp,
      payload: {
        session_token: token,
        agent_id: "com.example.python",
        agent_version: "1.0.0",
        protocol: { supported_versions: [1], capabilities: ["tools", "streaming", "cancellation"] },
      },
    });
    const tools = register.payload.tools as { name: string; tool_id: string; input_schema: object }[];
    expect(tools.map(({ name }) => name)).toEqual([
      "greet",
      "sign",
      "word_count",
      "countdown",
      "fail",
      "prepare",
    ]);
    for (const { name, tool_id } of tools) expect(tool_id).toBe(`com.example.python/${name}`);
    expect(tools[2]?.input_schema).toEqual({
      type: "object",
      properties: { text: { type: "string", maxLength: 100_000 } },
      required: ["text"],
      additionalProperties: false,
    });
    const slow = callOf("countdown", { from: 1, interval_ms: 10_000 });
    connection.write(slow);
    const first = await connection.next("agent.heartbeat", { inflight_calls: 1 });
    const second = await connection.next("agent.heartbeat", { inflight_calls: 1 });
    const third = await connection.next("agent.heartbeat", { inflight_calls: 1 });
    const health = {
      session_id: "session-1",
      inflight_calls: 1,
      status: "ok",
      uptime_ms: expect.any(Number),
    };
    expect(first.payload).toEqual(health);
    const uptimes = [first, second, third].map(({ payload }) => payload.uptime_ms as number);
    for (const [index, uptime] of uptimes.slice(1).entries()) {
      expect(uptime - (uptimes[index] ?? 0)).toBeGreaterThanOrEqual(29);
    }
    expect(connection.received.filter(({ type }) => type === "agent.hello")).toHaveLength(1);
    expect(JSON.stringify(connection.received.slice(1))).not.toContain(token);
  });

  it("comes back after a goodbye that asks for it, and ends after one that does not", async () => {
    const { core, agent, connection } = await serve();
    connection.write(messageOf("core.goodbye", { reason: "update", retry_after_ms: 20 }));
    await connection.closed;
    const again = await core.accept();
    const { hello } = await again.welcome();
    expect(hello.payload.session_token).toBe(token);
    expect(await run(again, callOf("word_count", { text: "a b" }))).toMatchObject({ status: "succeeded" });
    again.write(messageOf("core.goodbye", { reason: "stop" }));
    expect(await agent.ended).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
  });

  it("answers what it runs when it is told to end", async () => {
    const { agent, connection } = await serve();
    const slow = callOf("countdown", { from: 2, interval_ms: 10_000 });
    connection.write(slow);
    await connection.next("agent.tool.stream");
    agent.kill("SIGTERM");
    expect(await resultOf(connection, slow)).toMatchObject({
      status: "canceled",
      error: { code: "tool.canceled" },
    });
    expect(await agent.ended).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
  });

  it("ends when the core does", async () => {
    const { agent, connection } = await serve();
    connection.write(callOf("countdown", { from: 2, interval_ms: 10_000 }));
    await connection.next("agent.tool.stream");
    connection.socket.destroy();
    expect(await agent.ended).toMatchObject({ code: 1, stderr: "the core closed the connection\n" });
  });

  it.each([
    [
      "refuses it",
      { error: { code: "protocol.unauthorized", message: "no" } },
      {},
      "protocol.unauthorized: no\n",
    ],
    ["chooses another version", {}, { accepted_version: 2 }, /^protocol\.invalid_message/],
    ["welcomes it with nonsense", {}, { heartbeat_interval_ms: "soon" }, /^protocol\.invalid_message/],
  ])("ends when the core %s", async (_, more, fields, stderr) => {
    const { agent, connection } = await connect();
    const hello = await connection.next("agent.hello");
    const payload = {
      accepted_version: 1,
      session_id: "s",
      heartbeat_interval_ms: 1,
      max_frame_bytes: 4096,
      ...fields,
    };
    connection.write(messageOf("core.welcome", payload, { in_reply_to: hello.id, ...more }));
    const end = await agent.ended;
    expect(end).toMatchObject({ code: 1, stdout: "" });
    expect(end.stderr).toMatch(stderr);
    expect(end.stderr).not.toContain(token);
  });

  it("does not start without a core", async () => {
    const lost = new AgentProcess({
      HARNESS_AGENT_SOCKET: "/nowhere/core.sock",
      HARNESS_SESSION_TOKEN: token,
    });
    const alone = new AgentProcess({ HARNESS_SESSION_TOKEN: token });
    onTestFinished(() => lost.clean());
    onTestFinished(() => alone.clean());
    expect(await lost.ended).toMatchObject({ code: 1, stderr: expect.not.stringContaining(token) as string });
    expect(await alone.ended).toMatchObject({
      code: 1,
      stderr: "HARNESS_AGENT_SOCKET is not set: a core has to start this agent\n",
    });
  });

  it("takes the token out of its environment", async () => {
    const code = [
      "import os, sys",
      "sys.path.insert(0, '.')",
      "import runtime",
      "print(*runtime.take_launch_parameters(), 'HARNESS_SESSION_TOKEN' in os.environ)",
    ].join("\n");
    const environment = { HARNESS_AGENT_SOCKET: "/core.sock", HARNESS_SESSION_TOKEN: token };
    const agent = new AgentProcess(environment, ["-c", code]);
    onTestFinished(() => agent.clean());
    expect((await agent.ended).stdout).toBe(`/core.sock ${token} False\n`);
  });
});

describe("the Python agent's frames", () => {
  it("are read in pieces and several at once, by bytes and not by characters", async () => {
    const { connection } = await serve();
    const one = callOf("word_count", { text: "Grüße, 世界 🌍\nzwei" });
    for (const byte of toFrame(one)) connection.socket.write(Buffer.of(byte));
    const output = { characters: 16, words: 4, lines: 2 };
    expect(await resultOf(connection, one)).toMatchObject({ status: "succeeded", output });
    const calls = Array.from({ length: 50 }, (_, index) =>
      callOf("word_count", { text: "a ".repeat(index) }),
    );
    connection.write(...calls);
    for (const [words, call] of calls.entries()) {
      expect(await resultOf(connection, call)).toMatchObject({ output: { words } });
    }
  });

  it("are refused one by one where they hold no message", async () => {
    const { connection } = await serve();
    const whole = messageOf("core.ping");
    const bodies = [
      "",
      "{",
      "[]",
      "null",
      "[".repeat(100_000),
      `{"v":${"1".repeat(5000)}}`,
      Buffer.from([0xff, 0xfe, 0x7b, 0x00]),
      Buffer.from(JSON.stringify(whole), "utf16le"),
      ...["v", "type", "id", "ts", "payload"].map((field) =>
        JSON.stringify({ ...whole, [field]: undefined }),
      ),
      ...["v", "type", "id", "ts", "payload"].map((field) => JSON.stringify({ ...whole, [field]: [] })),
      JSON.stringify({ ...whole, v: true }),
      JSON.stringify({ ...whole, request_id: 7 }),
    ];
    connection.socket.write(Buffer.concat(bodies.map(frameOf)));
    for (const body of bodies) {
      const { error, in_reply_to } = await connection.next("agent.error");
      expect(error, String(body).slice(0, 50)).toMatchObject({ code: "protocol.invalid_message" });
      expect(in_reply_to).toBeUndefined();
    }
    await connection.handled();
  });

  it("end the connection where they are larger than the welcome allows", async () => {
    const { agent, connection } = await serve(undefined, { max_frame_bytes: 8000 });
    const header = Buffer.alloc(4);
    header.writeUInt32BE(8001);
    connection.socket.write(header);
    await connection.closed;
    expect(await agent.ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("frame_too_large") as string,
    });
  });

  it("of another version end the connection", async () => {
    const { agent, connection } = await serve();
    const ping = messageOf("core.ping", {}, { v: 2 });
    connection.write(ping);
    const { error, in_reply_to } = await connection.next("agent.error");
    expect(error).toMatchObject({ code: "protocol.unsupported_version" });
    expect(in_reply_to).toBe(ping.id);
    expect((await agent.ended).code).toBe(1);
  });

  it("of an unknown type are answered if somebody waits for it", async () => {
    const { connection } = await serve();
    const asks = messageOf("core.dance", {}, { request_id: "r", correlation_id: "c", causation_id: "d" });
    const answer = messageOf("core.dance", {}, { request_id: "r", in_reply_to: "x" });
    const failure = messageOf("core.error", {}, { request_id: "r", error: { code: "a.b", message: "c" } });
    connection.write(messageOf("core.dance"), answer, failure, asks);
    await connection.handled();
    const errors = connection.received.filter(({ type }) => type === "agent.error");
    expect(errors).toEqual([
      {
        ...{ v: 1, type: "agent.error", id: uuid, ts: timestamp, payload: {}, in_reply_to: asks.id },
        ...{ request_id: "r", correlation_id: "c", causation_id: "d" },
        error: { code: "protocol.unknown_type", message: "this agent does not know the type" },
      },
    ]);
  });
});

describe("the Python agent's calls", () => {
  it("fail where the input does not fit, and say nothing of it", async () => {
    const { connection } = await serve();
    const wrong: [string, unknown][] = [
      ["word_count", { text: 7, secret: "swordfish" }],
      ["word_count", { text: ["swordfish"] }],
      ["word_count", { text: `swordfish${"x".repeat(100_000)}` }],
      ["word_count", {}],
      ["word_count", "swordfish"],
      ["word_count", null],
      ["countdown", { from: 0, interval_ms: 1 }],
      ["countdown", { from: 101, interval_ms: 1 }],
      ["countdown", { from: true, interval_ms: 1 }],
      ["countdown", { from: 1.5, interval_ms: 1 }],
      ["fail", { because: "swordfish" }],
    ];
    for (const [tool, input] of wrong) {
      const result = await run(connection, callOf(tool, input));
      expect(result, tool).toMatchObject({ status: "failed", error: { code: "tool.invalid_input" } });
      expect(JSON.stringify(result)).not.toContain("swordfish");
    }
    const unknown = await run(connection, callOf("dance", {}));
    expect(unknown).toMatchObject({ status: "failed", error: { code: "tool.not_found" } });
  });

  it("that cannot be named are refused as messages", async () => {
    const { connection } = await serve();
    const running = callOf("countdown", { from: 1, interval_ms: 50 });
    const twice = { ...running, id: "another" };
    const nameless = callOf("word_count", { text: "" }, { call_id: 7 });
    const timeless = callOf("word_count", { text: "" }, { timeout_ms: "soon" });
    connection.write(running, twice, nameless, timeless);
    for (const { id } of [twice, nameless, timeless]) {
      const { in_reply_to, error } = await connection.next("agent.error");
      expect({ in_reply_to, error }).toMatchObject({
        in_reply_to: id,
        error: { code: "protocol.invalid_message" },
      });
    }
    expect(await resultOf(connection, running)).toMatchObject({ status: "succeeded" });
    await connection.handled();
    expect(connection.received.filter(({ type }) => type === "agent.tool.result")).toHaveLength(1);
  });

  it("are cancelled at once, also before they have begun, and end once", async () => {
    const { connection } = await serve();
    const call = callOf("countdown", { from: 100, interval_ms: 10_000 });
    const cancel = messageOf("core.tool.cancel", { call_id: call.payload.call_id });
    connection.write(call, cancel);
    expect(await connection.next("agent.tool.cancel_ack")).toMatchObject({
      in_reply_to: cancel.id,
      request_id: call.request_id,
      payload: { call_id: call.payload.call_id, accepted: true },
    });
    expect(await resultOf(connection, call)).toEqual({
      call_id: call.payload.call_id,
      status: "canceled",
      finished_at: timestamp,
      error: { code: "tool.canceled", message: "it was cancelled" },
    });
    connection.write(messageOf("core.tool.cancel", { call_id: call.payload.call_id }));
    expect((await connection.next("agent.tool.cancel_ack")).payload.accepted).toBe(false);
    await connection.handled();
    expect(connection.received.filter(({ type }) => type === "agent.tool.result")).toHaveLength(1);
  });

  it("end when their time is over", async () => {
    const { connection } = await serve();
    const call = callOf("countdown", { from: 100, interval_ms: 10_000 }, { timeout_ms: 20 });
    expect(await run(connection, call)).toMatchObject({ status: "failed", error: { code: "tool.timeout" } });
  });

  it("run side by side, up to a number", async () => {
    const { connection } = await serve();
    const calls = Array.from({ length: 258 }, () => callOf("countdown", { from: 1, interval_ms: 10_000 }));
    connection.write(...calls);
    const busy = await Promise.all([
      connection.next("agent.tool.result", { status: "failed" }),
      connection.next("agent.tool.result", { status: "failed" }),
    ]);
    expect(busy.map(({ payload }) => payload.call_id)).toEqual(
      calls.slice(256).map(({ payload }) => payload.call_id),
    );
    expect(busy[0].payload.error).toMatchObject({ code: "tool.busy", retryable: true });
    connection.write(...calls.map(({ payload: { call_id } }) => messageOf("core.tool.cancel", { call_id })));
    for (const call of calls.slice(0, 256)) {
      expect(await resultOf(connection, call)).toMatchObject({ status: "canceled" });
    }
  });

  it("fail without a word of what a tool did not foresee, and without what is too large", async () => {
    const { agent, connection } = await serve(["test/fixtures/odd_agent.py"], { max_frame_bytes: 4096 });
    const broken = await run(connection, callOf("broken", {}));
    expect(broken).toMatchObject({
      status: "failed",
      error: { code: "tool.failed", message: "the tool failed" },
    });
    const large = await run(connection, callOf("large", { size: 4096 }));
    expect(large).toMatchObject({ status: "failed", error: { code: "tool.output_too_large" } });
    expect(await run(connection, callOf("large", { size: 1024 }))).toMatchObject({ status: "succeeded" });
    connection.write(messageOf("core.goodbye", { reason: "stop" }));
    expect(await agent.ended).toMatchObject({
      code: 0,
      stderr: "RuntimeError in com.example.python/broken\n",
    });
  });
});
