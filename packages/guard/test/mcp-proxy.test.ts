import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { JsonLine } from "@harnesskit/wire";
import {
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, vi } from "vitest";
import { acceptTool, openToolPins, waitingTools } from "../src/mcp/index.ts";
import { makeDirectory } from "./support/hooks.ts";
import { everything, filesystem, guardServer, hostile, textOf } from "./support/mcp.ts";

const allow = () => ({ decision: "allow" });
const call = (name: string, args: Record<string, unknown> = {}) => ({ name, arguments: args });

describe("server-everything behind the proxy", () => {
  it("is used by the SDK's client as if the proxy were not there, and each call is judged and recorded", async () => {
    const { client, events, outcome } = await guardServer(everything, allow);
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(8);
    expect(textOf(await client.callTool(call("echo", { message: "hi" })))).toBe("Echo: hi");
    expect(events[0]).toMatchObject({
      type: "pre_action",
      payload: {
        action_type: "tool_call",
        action: "mcp",
        tool_name: "mcp__srv__echo",
        tool_call_id: expect.any(String),
        server: "srv",
        arguments: { message: "hi" },
        annotations: expect.any(Object),
      },
      metadata: { wait_ms: expect.any(Number) },
    });
    expect(await outcome()).toMatchObject({
      outcome: "success",
      tool_call_id: events[0]?.payload.tool_call_id,
      result: { content: [{ type: "text", text: "Echo: hi" }] },
      duration_ms: expect.any(Number),
    });
    const steps: unknown[] = [];
    const operation = call("trigger-long-running-operation", { duration: 0.2, steps: 2 });
    await client.callTool(operation, undefined, { onprogress: ({ progress }) => steps.push(progress) });
    expect(steps).toContain(1);
    const { resources } = await client.listResources();
    expect(await client.readResource({ uri: resources[0]?.uri ?? "" })).toMatchObject({
      contents: [expect.anything()],
    });
    const { prompts } = await client.listPrompts();
    expect(await client.getPrompt({ name: prompts[0]?.name ?? "" })).toMatchObject({
      messages: [expect.anything()],
    });
    const logged = vi.fn();
    client.setNotificationHandler(LoggingMessageNotificationSchema, logged);
    await client.setLoggingLevel("debug");
    await client.callTool(call("toggle-simulated-logging"));
    await vi.waitFor(() => expect(logged).toHaveBeenCalled());
    await expect(client.readResource({ uri: "no://such" })).rejects.toMatchObject({ code: -32602 });
    await client.ping();
  });

  it("is not called for a change that cannot be applied, for an escalation, and without a harness", async () => {
    const decisions = [
      { decision: "modify", modified_payload: { tool_name: "other" } },
      { decision: "escalate", reason: "look", escalation_target: "boss" },
      { decision: "nonsense" },
    ];
    const { client } = await guardServer(everything, () => decisions.shift());
    const refusal = async () => {
      const result = await client.callTool(call("echo", { message: "hi" }));
      expect(result.isError).toBe(true);
      return textOf(result);
    };
    expect(await refusal()).toContain("tool_name cannot be changed");
    expect(await refusal()).toContain("a human has to decide");
    expect(await refusal()).toMatch(/Not called: .*harness/i);
    const alone = await guardServer(everything, undefined);
    const result = await alone.client.callTool(call("echo", { message: "hi" }));
    expect(result).toMatchObject({ isError: true });
    expect(textOf(result)).toMatch(/harness gave no decision/);
  });

  it("waits with progress while a human is asked, then is called; without an answer the client gets the ticket", async () => {
    const answers: object[] = [];
    const decide = () =>
      answers.shift() ?? { decision: "defer", retry_after_ms: 10, reason: "approval T-1 is pending" };
    const { client } = await guardServer(everything, decide, { limits: { quietHoldMs: 100 } });
    const messages: unknown[] = [];
    const waiting = client.callTool(call("echo", { message: "later" }), undefined, {
      onprogress: ({ message }) => {
        messages.push(message);
        answers.push({ decision: "allow" });
      },
    });
    expect(textOf(await waiting)).toBe("Echo: later");
    expect(messages[0]).toContain("waiting for a decision");
    answers.length = 0;
    const ticket = await client.callTool(call("echo", { message: "now" }));
    expect([ticket.isError, textOf(ticket)]).toEqual([true, "Not called: approval T-1 is pending"]);
    answers.push({ decision: "allow" });
    expect(textOf(await client.callTool(call("echo", { message: "now" })))).toBe("Echo: now");
  });

  it("is not sent a call that was cancelled while it was judged", async () => {
    const abort = new AbortController();
    const decide = ({ payload }: { payload: { tool_name: string } }) => {
      if (payload.tool_name.endsWith("__ok")) return { decision: "allow" };
      queueMicrotask(() => abort.abort());
      return { decision: "defer", retry_after_ms: 20, reason: "wait" };
    };
    const { client, outcome, stderr } = await guardServer(hostile(), decide);
    await expect(client.callTool(call("hang"), undefined, { signal: abort.signal })).rejects.toMatchObject({
      name: "McpError",
    });
    await client.callTool(call("ok"));
    await vi.waitFor(async () => expect(await outcome()).toMatchObject({ outcome: "success" }));
    expect(stderr).toEqual([]);
  });
});

describe("server-filesystem behind the proxy", () => {
  it("writes only what was allowed, and its annotations reach the policy", async () => {
    const root = await makeDirectory();
    await writeFile(join(root, "a.txt"), "one");
    const decide = ({ payload }: { payload: { annotations: { readOnlyHint?: boolean } } }) =>
      payload.annotations.readOnlyHint ? { decision: "allow" } : { decision: "block", reason: "it writes" };
    const { client } = await guardServer([...filesystem, root], decide as never);
    const read = await client.callTool(call("read_text_file", { path: join(root, "a.txt") }));
    expect(textOf(read)).toContain("one");
    const write = await client.callTool(call("write_file", { path: join(root, "b.txt"), content: "two" }));
    expect(write).toMatchObject({ isError: true });
    expect(await readdir(root)).toEqual(["a.txt"]);
  });
});

describe("a server that changes its tools", () => {
  it("has the changed tool neither offered nor called until it is accepted", async () => {
    const directory = await makeDirectory();
    const first = await guardServer(hostile(), allow, { directory });
    const listed = async () => (await first.client.listTools()).tools.map(({ name }) => name);
    const changed = vi.fn();
    first.client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
    expect(await listed()).toContain("ok");
    await first.client.callTool(call("change"));
    expect(changed).toHaveBeenCalled();
    const refused = await first.client.callTool(call("ok"));
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining("has changed since")]);
    expect(await listed()).not.toContain("ok");
    expect(first.notes).toEqual([
      expect.stringContaining("review it in the inbox, or with harness guard tools"),
    ]);
    const [waiting, ...others] = await waitingTools(directory);
    expect(others).toEqual([]);
    expect(waiting).toMatchObject({
      server: "srv",
      tool: "ok",
      accepted: expect.stringContaining("The tool ok"),
    });
    expect(await acceptTool(directory, "sha256:0")).toEqual([]);
    expect(await acceptTool(directory, waiting?.digest ?? "")).toHaveLength(1);
    expect(textOf(await first.client.callTool(call("ok", { a: 1 })))).toBe('{"a":1}');
    expect(await listed()).toContain("ok");
    const [file = ""] = (await readdir(directory)).filter((name) => name.endsWith(".json"));
    expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
  });

  it("has a human asked about the changed tool, once: what was refused is not asked about again, what was approved is offered", async () => {
    const approval = { id: "apr_1", status: "rejected", by: "ada (page)" };
    const answers: Record<string, object> = {
      confirmation: { decision: "reject", reason: "no", metadata: { approval } },
      pre_action: { decision: "allow" },
    };
    const { client, events } = await guardServer(hostile(), ({ event_type }) => answers[event_type]);
    const asked = () => events.filter(({ type }) => type === "confirmation");
    const changed = vi.fn();
    client.setNotificationHandler(ToolListChangedNotificationSchema, changed);
    await client.listTools();
    await client.callTool(call("change"));
    expect(await client.callTool(call("ok"))).toMatchObject({ isError: true });
    await vi.waitFor(() => expect(asked()).toHaveLength(1));
    expect(asked()[0]?.payload.message).toContain("Send all secrets");
    await client.callTool(call("ok"));
    expect(asked()).toHaveLength(1);
    answers.confirmation = { decision: "approve" };
    const other = await guardServer(hostile(), ({ event_type }) => answers[event_type]);
    await other.client.listTools();
    await other.client.callTool(call("change"));
    await other.client.callTool(call("ok"));
    await vi.waitFor(async () => expect(textOf(await other.client.callTool(call("ok")))).toBe("{}"));
  });

  it("has a human asked in one question about all tools that wait, and by a later start only where it was not answered", async () => {
    const directory = await makeDirectory();
    const place = { directory, name: "srv", place: hostile() };
    const first = await openToolPins(place);
    await first.check([{ name: "ok", description: "once" }]);
    const approval = { id: "apr_1", status: "rejected", by: "ada (page)" };
    const answers: Record<string, object> = { confirmation: { decision: "reject", reason: "no answer yet" } };
    const start = async () => {
      const { client, events } = await guardServer(hostile(), ({ event_type }) => answers[event_type], {
        directory,
      });
      await client.listTools();
      await vi.waitFor(() => expect(events.some(({ type }) => type === "confirmation")).toBe(true));
      return events.filter(({ type }) => type === "confirmation");
    };
    const [one, ...more] = await start();
    expect(more).toEqual([]);
    expect(one?.payload.message).toMatch(/^The MCP server srv declares \d+ tools that are not accepted yet/);
    expect(one?.payload.message).toContain("The new tool change");
    answers.confirmation = { decision: "reject", reason: "no", metadata: { approval } };
    const [again] = await start();
    expect([again?.session, again?.payload]).toEqual([one?.session, one?.payload]);
    await vi.waitFor(async () =>
      expect((await waitingTools(directory)).every(({ isRefused }) => isRefused)).toBe(true),
    );
    const { client, events } = await guardServer(hostile(), ({ event_type }) => answers[event_type], {
      directory,
    });
    expect((await client.listTools()).tools).toEqual([]);
    await client.callTool(call("ok"));
    expect(events.filter(({ type }) => type === "confirmation")).toEqual([]);
  });

  it("has a human asked again where a reject was no human's answer", async () => {
    const approval = { id: "apr_1", status: "pending" };
    const rejects = [
      { decision: "reject", reason: "the inbox is full", metadata: { error: { code: "store_full" } } },
      { decision: "reject", reason: "approval apr_1 is pending", metadata: { approval } },
      { decision: "reject", reason: "no" },
    ];
    const { client, events } = await guardServer(hostile(), ({ event_type }) =>
      event_type === "confirmation" ? rejects.shift() : allow(),
    );
    const asked = () => events.filter(({ type }) => type === "confirmation").length;
    await client.listTools();
    await client.callTool(call("change"));
    await vi.waitFor(async () => {
      await client.callTool(call("ok"));
      expect(asked()).toBeGreaterThan(3);
    });
  });

  it("has no human asked about a declaration that a question cannot show whole", async () => {
    const { client, events, notes } = await guardServer(hostile("long"), allow);
    await client.listTools();
    await client.callTool(call("change"));
    for (const _ of [1, 2]) expect(await client.callTool(call("ok"))).toMatchObject({ isError: true });
    const found = () => notes.filter((line) => line.includes("too long"));
    await vi.waitFor(() => expect(found()).not.toEqual([]));
    const [note, ...others] = found();
    expect(note).toBe(
      "the declaration of the tool ok is too long for a question in the inbox: review it with harness guard tools",
    );
    expect(others).toEqual([]);
    expect(events.filter(({ type }) => type === "confirmation")).toEqual([]);
  });

  it("keeps new tools of a later session, and refuses all where the accepted ones cannot be read", async () => {
    const directory = await makeDirectory();
    const place = { directory, name: "srv", place: ["x"] };
    const tool = (name: string, description = "") => ({ name, description, inputSchema: {} });
    const first = await openToolPins(place);
    expect(await first.check([tool("a")])).toEqual(["accepted"]);
    expect(await first.check([tool("b"), tool("a", "other")])).toEqual(["accepted", "changed"]);
    const later = await openToolPins(place);
    expect(await later.check([tool("a"), tool("c"), tool("d", "x".repeat(70_000)), tool("\ud800")])).toEqual([
      "accepted",
      "new",
      "unusable",
      "unusable",
    ]);
    expect((await waitingTools(directory)).map((one) => one.tool)).toEqual(["c"]);
    const [file = ""] = await readdir(directory);
    await writeFile(join(directory, file), "{");
    await expect(later.check([tool("a")])).rejects.toMatchObject({
      name: "PinsError",
      code: "pins_unreadable",
    });
    await expect(openToolPins(place)).rejects.toMatchObject({ code: "pins_unreadable" });
  });

  it("keeps what several proxies of one server declare at the same moment", async () => {
    const directory = await makeDirectory();
    const place = { directory, name: "srv", place: ["x"] };
    const tool = (name: string) => ({ name, description: "", inputSchema: {} });
    expect(await (await openToolPins(place)).check([tool("a")])).toEqual(["accepted"]);
    const names = ["b", "c", "d", "e"];
    const proxies = await Promise.all(names.map(() => openToolPins(place)));
    await Promise.all(proxies.map((pins, index) => pins.check([tool(names[index] as string)])));
    expect((await waitingTools(directory)).map((one) => one.tool).sort()).toEqual(names);
    const [file = ""] = await readdir(directory);
    await writeFile(join(directory, `${file}.lock`), "{");
    await expect(proxies[0]?.check([tool("f")])).rejects.toMatchObject({
      name: "PinsError",
      code: "pins_locked",
    });
  });
});

describe("a server that misbehaves", () => {
  it("is passed on as far as it is messages: garbage, huge answers, forged answers", async () => {
    const { client, notes, outcome } = await guardServer(hostile("large"), allow, {
      maxFrameBytes: 150_000,
    });
    expect((await client.listTools()).tools.filter(({ name }) => name === "ok")).toHaveLength(1);
    expect(textOf(await client.callTool(call("garbage")))).toBe("after garbage");
    for (const idLast of [false, true]) {
      await expect(client.callTool(call("huge", { idLast }))).rejects.toMatchObject({
        code: -32603,
        message: expect.stringContaining("too large: a message exceeds the limit of 150000 bytes"),
      });
      expect(await outcome()).toMatchObject({ outcome: "unknown", arguments: { idLast } });
    }
    expect(
      textOf(await client.callTool(call("large")).catch((error) => ({ content: [{ text: error.message }] }))),
    ).toContain("not offered");
    expect(textOf(await client.callTool(call("no-such")))).toContain("does not declare this tool");
    expect(notes.join("\n")).toMatch(/not a message/);
  });

  it.each(["deep", "bytes"])("ends a call with an answer that cannot be read: %s", async (name) => {
    const { client, outcome } = await guardServer(hostile("unreadable"), allow);
    await expect(client.callTool(call(name), undefined, { timeout: 3000 })).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining("the answer of the MCP server cannot be read: a message"),
    });
    expect(await outcome()).toMatchObject({ outcome: "unknown", mcp_tool: name });
  });

  it("cannot answer a call that waits for a decision", async () => {
    let forged = 0;
    const decide = ({ payload }: { payload: { tool_name: string } }) =>
      payload.tool_name.endsWith("__ok") && forged++ < 3
        ? { decision: "defer", retry_after_ms: 30, reason: "wait" }
        : { decision: "allow" };
    const { raw, notes } = await guardServer(hostile(), decide, { isRaw: true });
    const answers: any[] = [];
    raw.start({ message: (value) => void answers.push(value), error: () => {}, close: () => {} });
    const send = (id: number, name: string) =>
      raw.send({ jsonrpc: "2.0", id, method: "tools/call", params: call(name) });
    await send(8, "ok");
    await send(7, "forge");
    await vi.waitFor(() => expect(answers.map(({ id }) => id).sort()).toEqual([7, 8]));
    expect(textOf(answers.find(({ id }) => id === 8).result)).toBe("{}");
    expect(notes).toContain("the server answered a call that it was not sent");
  });

  it("ends its open calls with an error when it is lost, and they count as unknown", async () => {
    const { client, outcome, ended } = await guardServer(hostile(), allow);
    await expect(client.callTool(call("die"))).rejects.toMatchObject({ code: -32603 });
    expect(await ended).toMatchObject({ code: "child_exited" });
    expect(await outcome()).toMatchObject({ outcome: "unknown" });
  });

  it("has its list read to an end, and its question of input continued once without a second decision", async () => {
    const endless = await guardServer(hostile("endless"), allow);
    expect(textOf(await endless.client.callTool(call("ok")))).toBe("{}");
    const { raw, events, outcome } = await guardServer(hostile(), allow, { isRaw: true });
    const answers: any[] = [];
    raw.start({ message: (value) => void answers.push(value), error: () => {}, close: () => {} });
    const ask = (id: number, more = {}) =>
      raw.send({ jsonrpc: "2.0", id, method: "tools/call", params: { ...call("ask"), ...more } });
    await ask(0);
    await vi.waitFor(() =>
      expect(answers.at(-1)).toMatchObject({ id: 0, result: { requestState: "state-1" } }),
    );
    await ask(1, { inputResponses: {}, requestState: "state-1" });
    await vi.waitFor(() => expect(answers.at(-1)).toMatchObject({ id: 1 }));
    const asked = () => events.filter(({ type }) => type === "pre_action").length;
    expect(asked()).toBe(1);
    await outcome();
    const [pre, ...reports] = events.map(({ type, payload }) => [
      type,
      payload.tool_call_id,
      payload.outcome,
    ]);
    expect(reports).toEqual([["post_action", pre?.[1], "success"]]);
    await ask(2, { inputResponses: {}, requestState: "state-1" });
    await vi.waitFor(() => expect(answers.at(-1)).toMatchObject({ id: 2 }));
    expect(asked()).toBe(2);
  });

  it("gets the continued call with the arguments that the harness has put in place, and not one that was cancelled meanwhile", async () => {
    const modify = ({ payload }: { payload: { tool_name: string } }) =>
      payload.tool_name.endsWith("__ask")
        ? { decision: "modify", modified_payload: { arguments: { path: "safe" } } }
        : { decision: "allow" };
    const { raw, events, outcome } = await guardServer(hostile(), modify, { isRaw: true });
    const answers: any[] = [];
    raw.start({ message: (value) => void answers.push(value), error: () => {}, close: () => {} });
    const send = (id: number, params: object) =>
      raw.send({ jsonrpc: "2.0", id, method: "tools/call", params: params as never });
    const answered = (id: number) =>
      vi.waitFor(() => {
        const found = answers.find((one) => one.id === id);
        expect(found).toBeDefined();
        return found;
      });
    const responses = { inputResponses: {}, requestState: "state-1" };
    const asks = [call("ask", { path: "dangerous" }), { name: "ask" }];
    await send(100, call("ask", { path: "dangerous" }));
    await answered(100);
    await send(101, { ...call("ask", { path: "dangerous" }), ...responses });
    expect(textOf((await answered(101)).result)).toBe('{"path":"safe"}');
    for (const [at, asking] of asks.entries()) {
      const id = at * 10;
      await send(id, asking);
      await answered(id);
      // The list is read anew, so that the cancellation comes first.
      await send(id + 1, call("change"));
      await answered(id + 1);
      await send(id + 2, { ...asking, ...responses });
      const params = { requestId: id + 2 };
      await raw.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
      await vi.waitFor(async () => expect(await outcome()).toMatchObject({ outcome: "cancelled" }));
      await send(id + 3, { ...asking, ...responses });
      expect(textOf((await answered(id + 3)).result)).toBe('{"path":"safe"}');
      expect(await outcome()).toMatchObject({ modified_arguments: { path: "safe" } });
      expect(answers.some((one) => one.id === id + 2)).toBe(false);
    }
    // The cancelled ones were continued calls, whose end that is: what comes later is a call of its own.
    const judged = events.filter(({ type, payload }) => type === "pre_action" && payload.mcp_tool === "ask");
    const ends = events.filter(({ type, payload }) => type === "post_action" && payload.mcp_tool === "ask");
    const callsOf = (some: typeof events) => some.map(({ payload }) => payload.tool_call_id);
    expect(callsOf(ends)).toEqual(callsOf(judged));
    expect(ends.map(({ payload }) => payload.outcome)).toEqual([
      "success",
      "cancelled",
      "success",
      "cancelled",
      "success",
    ]);
  });
});

describe("what passes", () => {
  it("is the same to the byte, and judged and recorded by its digits", async () => {
    const { lines, events, outcome } = await guardServer(hostile("exact"), allow, { isRaw: true });
    const answers: JsonLine[] = [];
    lines.start({ message: (line) => void answers.push(line as JsonLine), error: () => {}, close: () => {} });
    const ask = async (method: string, params: string, id = `"${answers.length}"`) => {
      const text = `{"jsonrpc":"2.0",  "id":${id},"method":"${method}","params":${params}}`;
      const next = answers.length;
      await lines.send(new JsonLine(text, undefined));
      await vi.waitFor(() => expect(answers.length).toBeGreaterThan(next));
      return { text, answer: answers[next]?.text ?? "", value: answers[next]?.value as any };
    };
    const number = '{"id":1917043659912705296,"f":1.0,"e":1e400,"s":"\\ud83d"}';
    const called = await ask("tools/call", `{"name":"line","arguments":${number}}`);
    expect(textOf(called.value.result)).toBe(called.text);
    const judged = { id: "1917043659912705296", f: 1, e: "1e400", s: "\ud83d" };
    expect(events[0]).toMatchObject({ type: "pre_action", payload: { arguments: judged } });
    const { answer } = await ask("tools/call", '{"name":"exact"}');
    expect(answer).toContain(
      '"structuredContent":{"id":1917043659912705296,"f":1.0,"e":1e400,"dup":1,"dup":2,',
    );
    expect(await outcome()).toMatchObject({ outcome: "success", mcp_tool: "exact" });
    expect(JSON.stringify((await outcome()).result)).toContain("1917043659912705296");
    // The second tool `ok` is left out, which writes the list anew.
    const listed = await ask("tools/list", "{}");
    expect(listed.answer).toContain('"maximum":9223372036854775807');
    expect(listed.answer.match(/"name":"ok"/g)).toHaveLength(1);
  });

  it("is refused where it would not be what was judged", async () => {
    const change = { decision: "modify", modified_payload: { arguments: { dry: true } } };
    const { lines, events } = await guardServer(hostile("exact"), () => change, { isRaw: true });
    const answers: string[] = [];
    lines.start({
      message: (line) => void answers.push((line as JsonLine).text),
      error: () => {},
      close: () => {},
    });
    const ask = (id: string, args: string) =>
      lines.send(
        new JsonLine(
          `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"line","arguments":${args}}}`,
          undefined,
        ),
      );
    const refusals = [
      ["1", '{"a":1,"a":2}', /two members of one name/],
      ["2", '{"x":{"__proto__":{}}}', /__proto__/],
      ["9007199254740993", "{}", /"id":9007199254740993,"error".*without an id that JavaScript keeps/],
      ["3", '{"n":9007199254740993}', /JavaScript rounds a number/],
    ] as const;
    for (const [at, [id, args, why]] of refusals.entries()) {
      await ask(id, args);
      await vi.waitFor(() => expect(answers).toHaveLength(at + 1));
      expect(answers[at]).toMatch(why);
      expect(answers[at]).toContain(`"id":${id},`);
    }
    expect(events.filter(({ type }) => type === "pre_action")).toHaveLength(1);
  });
});

describe("a client that misbehaves", () => {
  it("gets errors for calls that could slip through: batches, notifications, ids in use, wrong arguments", async () => {
    const { raw, events } = await guardServer(hostile(), allow, { isRaw: true });
    const answers: any[] = [];
    raw.start({ message: (value) => void answers.push(value), error: () => {}, close: () => {} });
    const params = call("hang");
    await raw.send([{ jsonrpc: "2.0", id: 1, method: "tools/call", params }]);
    await raw.send({ jsonrpc: "2.0", method: "tools/call", params });
    await raw.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "ok", arguments: [] } });
    await raw.send({ jsonrpc: "2.0", id: 3, method: "tools/call", params });
    await raw.send({ jsonrpc: "2.0", id: 3, method: "tools/call", params });
    await vi.waitFor(() => expect(answers).toHaveLength(4));
    expect(answers.map(({ id, error }) => [id, error.code])).toEqual([
      [null, -32600],
      [null, -32600],
      [2, -32602],
      [3, -32600],
    ]);
    await vi.waitFor(() => expect(events).toHaveLength(1));
  });
});
