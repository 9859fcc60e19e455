import { mkdir, writeFile } from "node:fs/promises";
import {
  request as ask,
  createServer as createHttpFront,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { type AhpHandlers, createAhpServer, type EventOf, HandlerError } from "@harnesskit/ahp-server";
import type { Decision } from "@harnesskit/protocol/ahp";
import { createHttpServer } from "@harnesskit/transport-http/node";
import { createUnixListener } from "@harnesskit/transport-uds";
import { describe, expect, it, onTestFinished } from "vitest";
import { ahp, startAhp } from "./support/ahp.ts";
import { binPath, makeWorkspace, startHarness } from "./support/harness.ts";

const token = "a-token-for-the-tests";

/** A harness that answers with the decision that stands in the payload. */
const obey = ({ payload }: { payload: unknown }) => payload as Decision;

/** A harness of the test's own on a socket, which all of its tests can reach. */
const makeHarness = async (handlers: AhpHandlers) => {
  const cwd = await makeWorkspace();
  const harness = createAhpServer({ name: "test", version: "1", handlers });
  const listener = createUnixListener({ path: join(cwd, "run", "a.sock"), framing: "newline" });
  await listener.listen((channel) => harness.connect(channel));
  onTestFinished(async () => {
    await harness.close();
    await listener.close();
  });
  const send = (message: unknown, ...args: string[]) =>
    ahp(["send", "--to", "unix:run/a.sock", ...args, "-"], cwd, JSON.stringify(message));
  return { cwd, harness, send };
};

/** A program on a socket that answers each line with what it is told to. */
const makeStranger = async (
  answer: (id: string, method: string, socket: Socket) => object | string | undefined,
) => {
  const cwd = await makeWorkspace();
  await mkdir(join(cwd, "run"), { mode: 0o700 });
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.setEncoding("utf8").on("data", (text: string) => {
      for (const line of text.split("\n").filter(Boolean)) {
        const { id, method } = JSON.parse(line) as { id: string; method: string };
        const reply = answer(id, method, socket);
        if (reply !== undefined)
          socket.write(`${typeof reply === "string" ? reply : JSON.stringify(reply)}\n`);
      }
    });
  }).listen(join(cwd, "run", "a.sock"));
  onTestFinished(() => void server.close());
  return cwd;
};

/** A proxy before a port that notes the head of each request, as its user's proxy would. */
const createFront = async (note: (request: IncomingMessage) => void, port: string): Promise<number> => {
  const front = createHttpFront((request, response) => {
    note(request);
    const { method, headers, url: path } = request;
    const onward = { ...headers, host: `127.0.0.1:${port}` };
    request.pipe(
      ask({ port, method, path, headers: onward }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      }),
    );
  });
  front.on("upgrade", (request: IncomingMessage, socket: Socket) => {
    note(request);
    const headers = { ...request.headers, host: `127.0.0.1:${port}` };
    const onward = ask({ port, path: request.url, headers });
    onward.on("upgrade", (answer, other) => {
      const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`);
      socket
        .on("error", () => {})
        .pipe(other.on("error", () => {}))
        .pipe(socket);
    });
    onward.on("response", ({ statusCode }) =>
      socket.end(`HTTP/1.1 ${statusCode} No\r\nconnection: close\r\n\r\n`),
    );
    onward.end();
  });
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    front.closeAllConnections();
    front.close();
  });
  return (front.address() as AddressInfo).port;
};

const shaken = (id: string) => ({
  jsonrpc: "2.0",
  id,
  result: { protocol_version: "2.4", harness_info: { name: "odd", version: "1", capabilities: [] } },
});

const preAction = { event_type: "pre_action", payload: { tool_name: "bash" } };

describe("harness ahp send", () => {
  it.each([
    [{ decision: "allow" }, 0, "pre_action → allow\n"],
    [
      { decision: "allow", modified_payload: { a: "\u001b" } },
      0,
      'pre_action → allow\n  modified_payload: {"a":"\\u001b"}\n',
    ],
    [{ decision: "modify", modified_payload: [1] }, 0, "pre_action → modify\n  modified_payload: [1]\n"],
    [{ decision: "block", reason: "no \u001b[31mway" }, 3, "pre_action → block: no ⟨U+001B⟩[31mway\n"],
    [{ decision: "defer", retry_after_ms: 5 }, 3, "pre_action → defer\n  retry_after_ms: 5\n"],
    [
      { decision: "escalate", reason: "ask", escalation_target: "ops" },
      3,
      'pre_action → escalate: ask\n  escalation_target: "ops"\n',
    ],
  ])("shows %j and says by its exit code whether to go on", async (decision, code, stdout) => {
    const { send } = await makeHarness({ pre_action: obey });
    expect(await send({ ...preAction, payload: decision })).toEqual({
      code,
      signal: null,
      stdout,
      stderr: "",
    });
    const json = await send({ ...preAction, payload: decision }, "--json");
    expect(json).toMatchObject({ code, stderr: "" });
    expect(JSON.parse(json.stdout)).toEqual({ event_type: "pre_action", origin: "harness", decision });
    expect(json.stdout).not.toContain("\u001b");
  });

  it("takes the decisions of the other events as they are meant", async () => {
    const limit = { session_id: "s", limit_type: "llm_token_limit", retry_after_ms: 1, current_usage: "" };
    const message = { session_id: "s", confirmation_type: "user_confirm", message: "" };
    const idle = { idle_duration_ms: 1, idle_reason: "" };
    const { send } = await makeHarness({
      rate_limit: ({ payload }) =>
        ({
          retry: { decision: "retry", retry_after_ms: 1 } as const,
          queue: { decision: "queue" } as const,
        })[payload.current_usage] ?? { decision: "skip", reason: "" },
      confirmation: ({ payload }) =>
        payload.message === "approve"
          ? { decision: "approve" }
          : payload.message === "reject"
            ? { decision: "reject", reason: "no" }
            : { decision: "escalate" },
      idle: ({ payload }) =>
        payload.idle_reason === "allow" ? { decision: "allow" } : { decision: "defer" },
    });
    const codes: Record<string, number | null> = {};
    for (const current_usage of ["retry", "queue", "skip"]) {
      const { code } = await send({ event_type: "rate_limit", payload: { ...limit, current_usage } });
      codes[current_usage] = code;
    }
    for (const text of ["approve", "reject", "escalate"]) {
      const { code } = await send({ event_type: "confirmation", payload: { ...message, message: text } });
      codes[text] = code;
    }
    for (const idle_reason of ["allow", "defer"]) {
      codes[idle_reason] = (await send({ event_type: "idle", payload: { ...idle, idle_reason } })).code;
    }
    expect(codes).toEqual({
      ...{ retry: 0, queue: 0, skip: 3, approve: 0, reject: 3, escalate: 3, allow: 0, defer: 3 },
    });
  });

  it("fills in what an event lacks, and keeps what it has", async () => {
    const seen: EventOf<"pre_action">[] = [];
    const { send } = await makeHarness({
      pre_action: (event, { handshake }) => {
        seen.push(event);
        expect(handshake).toMatchObject({ session_id: event.session_id, agent_id: event.agent_id });
        return { decision: "allow" };
      },
    });
    const whole = {
      ...preAction,
      session_id: "s7",
      agent_id: "a7",
      timestamp: "2026-01-01T00:00:00Z",
      depth: 3,
      context: { current_task: "tests" },
      metadata: { colour: "blue" },
    };
    expect((await send(whole)).code).toBe(0);
    expect((await send(preAction)).code).toBe(0);
    expect(seen).toMatchObject([
      whole,
      { depth: 0, session_id: expect.stringMatching(/^ses_/), agent_id: expect.stringMatching(/^agent_/) },
    ]);
  });

  it("sends an array as a batch; the highest exit code counts", async () => {
    const { send } = await makeHarness({ pre_action: obey });
    const of = (...decisions: object[]) =>
      decisions.map((payload) => ({ event_type: "pre_action", payload }));
    const blocked = { decision: "block", reason: "no" };
    const end = await send([...of({ decision: "allow" }, blocked), { event_type: "post_action" }]);
    expect(end).toMatchObject({
      code: 3,
      stdout: "pre_action → allow\npre_action → block: no\npost_action → allow\n",
    });
    expect((await send(of({ decision: "allow" }))).code).toBe(0);
    const json = await send(of(blocked), "--json");
    expect(JSON.parse(json.stdout)).toEqual({
      decisions: [{ event_type: "pre_action", origin: "harness", decision: blocked }],
    });
    const many = await send(
      Array.from({ length: 101 }, () => of({ decision: "allow" })[0]),
      "--json",
    );
    expect(many.code).toBe(4);
    expect(JSON.parse(many.stdout).decisions[100]).toMatchObject({
      origin: "client",
      code: "batch_too_large",
    });
  });

  it("sends a query and prints its answer", async () => {
    const { send } = await makeHarness({
      query: ({ query_type, payload }) => {
        if (query_type === "broken") throw new HandlerError("out of \u001bink");
        return { answer: { query_type, payload }, reason: "because", alternatives: ["b"] };
      },
    });
    const query = { query_type: "weather", payload: "rain?", session_id: "s7" };
    const answer = { query_type: "weather", payload: { question: "rain?" } };
    expect(await send(query)).toMatchObject({
      code: 0,
      stdout: `${JSON.stringify(answer)}\n  reason: because\n  alternatives: ["b"]\n`,
    });
    expect(JSON.parse((await send(query, "--json")).stdout)).toEqual({
      answer,
      reason: "because",
      alternatives: ["b"],
    });
    const broken = await send({ query_type: "broken" });
    expect(broken.code).toBe(4);
    expect(broken.stdout).toMatch(
      /^no answer \(harness_error\): .*-32603: Handler error: out of ⟨U\+001B⟩ink\n$/,
    );
    const json = await send({ query_type: "broken" }, "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: "harness_error" } });
  });

  it("sends notifications over every way, and hears over HTTP when one is refused", async () => {
    const { cwd, harness, send } = await makeHarness({});
    const server = createHttpServer({ routes: { "/ahp": harness }, token });
    await server.webSocketListener({ path: "/ahp" }).listen((channel) => harness.connect(channel));
    await server.listen();
    onTestFinished(() => server.close());
    await writeFile(join(cwd, "token"), token);
    const success = { session_id: "s", action_type: "a", action_summary: "b", duration_ms: 1 };
    const notification = { event_type: "success", payload: success };
    expect(await send(notification)).toMatchObject({ code: 0, stdout: "success → sent\n" });
    for (const endpoint of [`${server.url}/ahp`, `${server.webSocketUrl}/ahp`]) {
      const args = ["send", "--to", endpoint, "--token-file", "token", "-"];
      expect(await ahp(args, cwd, JSON.stringify(notification))).toMatchObject({ code: 0 });
    }
    expect(harness.stats()).toMatchObject({ notifications: 3, refusedNotifications: 0 });
    const args = ["send", "--json", "--to", `${server.url}/ahp`, "--token-file", "token", "-"];
    const large = JSON.stringify({ ...notification, session_id: "s", agent_id: "x".repeat(600) });
    const refused = await ahp(args, cwd, large);
    expect(refused.code).toBe(4);
    expect(JSON.parse(refused.stdout)).toMatchObject({ event_type: "success", sent: false });
  });

  it("shows the token of a file or of the environment", async () => {
    const { cwd, harness } = await makeHarness({ pre_action: () => ({ decision: "allow" }) });
    const server = createHttpServer({ routes: { "/ahp": harness }, token });
    await server.listen();
    onTestFinished(() => server.close());
    await writeFile(join(cwd, "token"), `${token}\n`);
    await writeFile(join(cwd, "event.json"), JSON.stringify(preAction));
    const to = ["send", "--to", `${server.url}/ahp`, "event.json"];
    expect((await ahp([...to, "--token-file", "token"], cwd)).code).toBe(0);
    const byEnvironment = startHarness(["ahp", ...to], { cwd, env: { HARNESS_AHP_TOKEN: token }, input: "" });
    expect((await byEnvironment.ended).code).toBe(0);
    const without = await ahp(to, cwd);
    expect(without).toMatchObject({ code: 4, stderr: "" });
    expect(without.stdout).toContain("pre_action → block: The harness gave no decision (unauthorized)");
    const missing = await ahp([...to, "--token-file", "nowhere"], cwd);
    expect(missing).toMatchObject({ code: 2, stdout: "" });
    expect(missing.stderr).toContain("cannot be read (it is not there)");
  });

  it("shows an API key of a file or of the environment, in a header or in the URL of a WebSocket", async () => {
    const { cwd, harness } = await makeHarness({ pre_action: () => ({ decision: "allow" }) });
    const seen: { url: string; headers: IncomingHttpHeaders }[] = [];
    const note = (request: IncomingMessage) =>
      seen.push({ url: request.url ?? "", headers: request.headers });
    const server = createHttpServer({ routes: { "/ahp": harness }, token });
    await server.webSocketListener({ path: "/ws" }).listen((channel) => harness.connect(channel));
    await server.listen();
    const front = createFront(note, new URL(server.url ?? "").port);
    onTestFinished(() => server.close());
    await writeFile(join(cwd, "key"), `${token}\n`, { mode: 0o600 });
    await writeFile(join(cwd, "event.json"), JSON.stringify(preAction));
    const port = await front;
    const send = (path: string, args: string[], env: Record<string, string> = {}) =>
      startHarness(
        [
          "ahp",
          "send",
          "--to",
          `${path.startsWith("/ws") ? "ws" : "http"}://127.0.0.1:${port}${path}`,
          "event.json",
          ...args,
        ],
        {
          cwd,
          env,
          input: "",
        },
      ).ended;
    const shown = async (...args: Parameters<typeof send>) => {
      seen.length = 0;
      const end = await send(...args);
      expect(end, end.stderr).toMatchObject({ code: 0, stderr: "" });
      const [{ url = "", headers = {} } = {}] = seen;
      return [url, headers["x-api-key"], headers.authorization];
    };
    const file = ["--api-key-file", "key"];
    expect(await shown("/ahp", file)).toEqual(["/ahp", token, undefined]);
    expect(await shown("/ahp", [], { HARNESS_AHP_API_KEY: token })).toEqual(["/ahp", token, undefined]);
    expect(await shown("/ahp", ["--token-file", "key"], { HARNESS_AHP_API_KEY: "other" })).toEqual([
      "/ahp",
      undefined,
      `Bearer ${token}`,
    ]);
    expect(await shown("/ws", file)).toEqual(["/ws", token, undefined]);
    expect(await shown("/ws", [...file, "--credentials-in-query"])).toEqual([
      `/ws?api_key=${token}`,
      undefined,
      undefined,
    ]);
    expect(await shown("/ws", ["--token-file", "key", "--credentials-in-query"])).toEqual([
      `/ws?token=${token}`,
      undefined,
      undefined,
    ]);
    await writeFile(join(cwd, "wrong"), "another-key-for-the-tests");
    const refused = await send("/ws", ["--api-key-file", "wrong", "--credentials-in-query"]);
    expect(refused.code).toBe(4);
    expect(refused.stdout + refused.stderr).not.toContain("another-key");
    const both = await send("/ahp", [], { HARNESS_AHP_API_KEY: token, HARNESS_AHP_TOKEN: token });
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("are both set") });
  });

  it("starts a harness as its child, and ends it", async () => {
    const cwd = await makeWorkspace();
    const command = `'${process.execPath}' "${binPath}" ahp serve --stdio --quiet --default allow --audit a\\ b.jsonl`;
    const end = await ahp(["send", "--to", `stdio:${command}`, "-"], cwd, JSON.stringify(preAction));
    expect(end).toMatchObject({ code: 0, stdout: "pre_action → allow\n" });
    expect(end.stderr).toContain("a b.jsonl\n");
    const absent = startAhp(
      ["send", "--to", "stdio:/does/not/exist", "--json", "-"],
      cwd,
      JSON.stringify(preAction),
    );
    const failed = await absent.ended;
    expect(failed.code).toBe(4);
    expect(JSON.parse(failed.stdout)).toMatchObject({ origin: "client", code: "unreachable" });
  });

  it.each([
    [
      "answers with an error",
      (id: string) => ({ jsonrpc: "2.0", id, error: { code: -32603, message: "x" } }),
      "harness_error",
    ],
    [
      "answers with nonsense",
      (id: string) => ({ jsonrpc: "2.0", id, result: { decision: "sure" } }),
      "invalid_decision",
    ],
    ["closes", (_id: string, socket: Socket) => void socket.destroy(), "connection_lost"],
    ["stays silent", () => undefined, "timeout"],
  ])("refuses where a harness %s", async (_what, answer, code) => {
    const cwd = await makeStranger((id, method, socket) =>
      method === "ahp/handshake" ? shaken(id) : (answer(id, socket) as object | undefined),
    );
    const args = ["send", "--json", "--timeout", "1", "--to", "unix:run/a.sock", "-"];
    const end = await ahp(args, cwd, JSON.stringify(preAction));
    expect(end).toMatchObject({ code: 4, stderr: "" });
    expect(JSON.parse(end.stdout)).toMatchObject({
      event_type: "pre_action",
      origin: "client",
      code,
      decision: { decision: "block", reason: expect.stringContaining(`(${code})`) },
    });
  });

  it("refuses where there is no harness, or none of this version, each event as its type has it", async () => {
    const old = await makeStranger((id) => ({
      ...shaken(id),
      result: { ...shaken(id).result, protocol_version: "3.0" },
    }));
    const send = async (to: string, message: object) => {
      const end = await ahp(["send", "--json", "--to", to, "-"], old, JSON.stringify(message));
      expect(end.code).toBe(4);
      return JSON.parse(end.stdout) as unknown;
    };
    expect(await send("unix:run/a.sock", preAction)).toMatchObject({ code: "version_mismatch" });
    const idle = { event_type: "idle", payload: { idle_duration_ms: 1, idle_reason: "" } };
    expect(await send("unix:nowhere.sock", idle)).toMatchObject({
      code: "unreachable",
      decision: { decision: "defer" },
    });
    expect(await send("unix:nowhere.sock", [preAction])).toMatchObject({
      decisions: [{ origin: "client", decision: { decision: "block" } }],
    });
    expect(await send("unix:nowhere.sock", { event_type: "error" })).toMatchObject({ sent: false });
    expect(await send("unix:nowhere.sock", { query_type: "x" })).toMatchObject({
      error: { code: "unreachable" },
    });
  });

  it("is ended by Ctrl-C while it waits, with the refusing decision", async () => {
    const cwd = await makeStranger((id, method) => {
      if (method === "ahp/handshake") return shaken(id);
      program.child.kill("SIGINT");
      return undefined;
    });
    const program = startAhp(["send", "--to", "unix:run/a.sock", "-"], cwd, JSON.stringify(preAction));
    const end = await program.ended;
    expect(end).toMatchObject({ code: 130, signal: null });
    expect(end.stdout).toContain("pre_action → block: The harness gave no decision (cancelled)");
  });

  it.each([
    ["no JSON", "{", "is not JSON"],
    ["a text", '"x"', "has no event_type"],
    ["an event of no type", "{}", "has no event_type"],
    ["an unknown type", '{"event_type":"pre_act\\u001bion"}', "there is no event pre_act⟨U+001B⟩ion"],
    ["the type of a method", '{"event_type":"handshake"}', "there is no event handshake"],
    [
      "a payload that does not fit",
      '{"event_type":"heartbeat","payload":{}}',
      "the payload of heartbeat at uptime_ms",
    ],
    ["a depth that is none", '{"event_type":"error","depth":-1}', "at depth"],
    ["an empty batch", "[]", "The batch is empty"],
    ["a batch of something else", "[1]", "Event 0 of the batch has no event_type"],
    [
      "an event that stands in no batch",
      '[{"event_type":"idle","payload":{"idle_duration_ms":1,"idle_reason":""}}]',
      "cannot stand in a batch",
    ],
    ["a query without a type", '{"query_type":1}', "A query has a query_type"],
    [
      "an event that is a query too",
      '{"event_type":"pre_action","query_type":"weather","payload":{}}',
      "has both an event_type and a query_type",
    ],
    ["a batch of such", '[{"event_type":"error","query_type":"weather"}]', "Event 0 of the batch has both"],
    ["too much", `"${"x".repeat(4_200_000)}"`, "more than 4194304 bytes"],
  ])("refuses %s before it connects, with exit code 2", async (_what, input, message) => {
    const cwd = await makeWorkspace();
    const end = await ahp(["send", "--to", "unix:nowhere.sock", "-"], cwd, input);
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toContain(message);
    expect(end.stderr).not.toMatch(/\n\s+at /);
  });

  it.each([
    [["-"], "required option '--to <endpoint>'"],
    [["--to", "unix:x"], "missing required argument 'file'"],
    [["--to", "unix:", "-"], "is not an endpoint"],
    [["--to", "tcp:127.0.0.1:1", "-"], "is not an endpoint"],
    [["--to", "/run/a.sock", "-"], "--to takes unix:PATH"],
    [["--to", "stdio:", "-"], "is not an endpoint"],
    [["--to", "stdio:node 'x", "-"], "has no end"],
    [["--to", `unix:${"x".repeat(200)}`, "-"], "choose a shorter directory"],
    [["--to", "http://u:p@127.0.0.1/ahp", "-"], "--to takes unix:PATH"],
    [["--to", "unix:x", "--token-file", "README.md", "--api-key-file", "README.md", "-"], "holds no token"],
    [["--to", "unix:x", "--api-key-file", "nowhere", "-"], "--api-key-file: nowhere cannot be read"],
    [
      ["--to", "ws://127.0.0.1:1", "--credentials-in-query", "-"],
      "--credentials-in-query: there is no credential",
    ],
    [["--to", "unix:x", "--timeout", "0", "-"], "1 to 3600 seconds"],
    [["--to", "unix:x", "nowhere.json"], "nowhere.json is not there"],
    [["--to", "unix:x", "."], "is a directory"],
  ])("%j is wrong usage", async (args, text) => {
    const cwd = await makeWorkspace();
    const end = await ahp(["send", ...args], cwd, JSON.stringify(preAction));
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toContain(text);
    expect(end.stderr).not.toMatch(/\n\s+at /);
  });
});
