import { methods } from "@agentclientprotocol/sdk";
import { sha256Digest } from "@harnesskit/node-kit";
import { canonicalJson } from "@harnesskit/wire/json";
import { describe, expect, it, vi } from "vitest";
import { agentProgram, guardAgent } from "./support/acp.ts";

const allow = () => ({ decision: "allow" });
const block = () => ({ decision: "block", reason: "not here" });

const options = [
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "once", name: "Once", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
const permission = (command: string, more: object = {}) => ({
  permission: {
    toolCall: { toolCallId: "c1", kind: "execute", title: "run", rawInput: { command }, ...more },
    options,
  },
});
const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });

describe("an ACP agent behind the proxy", () => {
  it("is permitted once what the policy allows, without the editor's dialog, and its outcome closes the row", async () => {
    const { run, asked, events, outcome, session } = await guardAgent(allow);
    const done = { update: { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "completed" } };
    expect(await run(permission("npm test"), done)).toEqual([selected("once"), {}]);
    expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["session_start", "pre_action"]);
    expect(events[1]).toMatchObject({
      session,
      payload: {
        tool_name: "bash",
        action: "run",
        arguments: { command: "npm test", cwd: "/work/app" },
      },
      metadata: {
        host: "acp",
        acp_agent: "fixture",
        acp_method: "session/request_permission",
        workspace: "/work/app",
        host_asks: true,
        wait_ms: expect.any(Number),
      },
    });
    expect(await outcome()).toMatchObject({
      outcome: "success",
      tool_call_id: events[1]?.payload.tool_call_id,
      duration_ms: expect.any(Number),
    });
    expect(asked.filter(({ method }) => method === "session/request_permission")).toEqual([]);
    // The editor has not seen the agent's question: the guard shows it the call.
    expect(asked[0]?.params.update).toMatchObject({
      sessionUpdate: "tool_call",
      toolCallId: "c1",
      title: "run",
    });
  });

  it("is refused what the policy blocks, with the reason where the protocol has a place for it", async () => {
    const { run, asked } = await guardAgent(block);
    const [asking, written, run1] = await run(
      permission("npm publish"),
      { write: { path: "/work/app/a.txt", content: "x" } },
      { terminal: { command: "npm", args: ["publish"] } },
    );
    expect(asking).toEqual({ ...selected("no"), _meta: { harnesskit: { reason: "not here" } } });
    const refusal = { code: -32000, message: "harness guard: not allowed: not here" };
    expect([written, run1]).toEqual([refusal, refusal]);
    const notes = asked.filter(({ params }) => params.update?.status === "failed");
    expect(JSON.stringify(notes)).toContain("harness guard: not here");
    expect(asked.every(({ method }) => method === "session/update")).toBe(true);
  });

  it("has its writes and terminals passed on as they were judged, with what the harness changes", async () => {
    const decide = ({ payload }: { payload: any }) => {
      const { path, command } = payload.arguments;
      if (path?.endsWith("changed.txt")) {
        return { decision: "modify", modified_payload: { arguments: { path, content: "safe" } } };
      }
      if (command === "echo 'a b'") {
        return {
          decision: "modify",
          modified_payload: { arguments: { command: "echo safe", cwd: "/work" } },
        };
      }
      return { decision: "allow" };
    };
    const { run, asked, outcome, events } = await guardAgent(decide);
    const env = [{ name: "A", value: "1 2" }];
    const results = await run(
      { write: { path: "/work/app/a.txt", content: "x" } },
      { write: { path: "/work/app/changed.txt", content: "x" } },
      { terminal: { command: "echo", args: ["a b"] } },
      { terminal: { command: "echo", args: ["c"], env } },
    );
    expect(results).toEqual([{}, {}, { exitCode: 3 }, { exitCode: 3 }]);
    const sessionId = "session-1";
    const of = (method: string) => asked.filter((one) => one.method === method).map(({ params }) => params);
    expect(of("fs/write_text_file")).toEqual([
      { sessionId, path: "/work/app/a.txt", content: "x" },
      { sessionId, path: "/work/app/changed.txt", content: "safe" },
    ]);
    expect(of("terminal/create")).toEqual([
      { sessionId, command: "sh", args: ["-c", "echo safe"], env: [], cwd: "/work" },
      { sessionId, command: "echo", args: ["c"], env },
    ]);
    expect(events.filter(({ type }) => type === "pre_action")).toHaveLength(4);
    expect(await outcome()).toMatchObject({
      arguments: { command: "A='1 2' echo c" },
      outcome: "error",
      result: { exit_code: 3 },
    });
  });

  it("has its edits shown as what they change, and nothing else", async () => {
    const previewOf = vi.fn(async () => "@@ -1 +1 @@\n-a\n+b\n");
    const { run, events } = await guardAgent(allow, { previewOf });
    const change = { type: "diff", path: "/work/app/a.txt", oldText: "a", newText: "b" };
    await run(permission("ls"), permission("", { kind: "edit", rawInput: undefined, content: [change] }), {
      write: { path: "/work/app/c.txt", content: "c" },
    });
    expect(previewOf.mock.calls).toEqual([
      [{ path: "/work/app/a.txt", old_text: "a", new_text: "b" }, "/work/app"],
      [{ path: "/work/app/c.txt", content: "c" }, "/work/app"],
    ]);
    const asked = events.filter(({ type }) => type === "pre_action");
    expect(asked.map(({ metadata }) => metadata.preview)).toEqual([
      undefined,
      ...Array(2).fill("@@ -1 +1 @@\n-a\n+b\n"),
    ]);
  });

  it("leaves the question to the editor's dialog where the policy says so, without the answers that would end the guard", async () => {
    const ask = () => ({ decision: "escalate", reason: "look", escalation_target: "terminal" });
    const { run, asked, outcome } = await guardAgent(ask, { choose: (all) => all[0].optionId });
    expect(await run(permission("npm publish"))).toEqual([selected("once")]);
    const [dialog] = asked.filter(({ method }) => method === "session/request_permission");
    expect(dialog?.params.options.map(({ kind }: any) => kind)).toEqual(["allow_once", "reject_once"]);
    expect(await outcome()).toMatchObject({ outcome: "unknown", error: "the turn ended without an outcome" });
    const refusing = await guardAgent(ask, { choose: () => undefined });
    expect(await refusing.run(permission("npm publish"))).toEqual([{ outcome: { outcome: "cancelled" } }]);
    expect(await refusing.outcome()).toMatchObject({ outcome: "refused" });
    const [written] = await refusing.run({ write: { path: "/work/app/a.txt", content: "x" } });
    expect(written.message).toContain("a human has to decide, and cannot be asked here");
  });

  it("is refused before a human is asked where no answer allows one call only, with the answer that it offers", async () => {
    const { run, events, outcome, asked } = await guardAgent(allow);
    const always = { ...permission("a").permission, options: [options[0], options[2]] };
    const none = { ...permission("c").permission, options: [] };
    const reason = expect.stringContaining('after "Always" (allow_always) it would ask no more');
    expect(await run({ permission: always })).toMatchObject([
      { ...selected("no"), _meta: { harnesskit: { reason } } },
    ]);
    expect(await outcome()).toMatchObject({ arguments: { command: "a" }, outcome: "refused", error: reason });
    expect(JSON.stringify(asked)).toContain("allows this call only");
    expect(await run({ permission: none })).toEqual([{ outcome: { outcome: "cancelled" } }]);
    expect(await outcome()).toMatchObject({
      outcome: "refused",
      error: expect.stringContaining("no answer"),
    });
    expect(events.filter(({ type }) => type === "pre_action")).toEqual([]);
  });

  it("is asked about once for a permission and what carries it out, and again for anything else", async () => {
    const { run, events } = await guardAgent(allow);
    const diff = { type: "diff", path: "/work/app/a.txt", oldText: "old", newText: "new" };
    const edit = { toolCallId: "e1", kind: "edit", title: "edit", content: [diff] };
    const write = { write: { path: "/work/app/a.txt", content: "new" } };
    const terminal = { terminal: { command: "npm", args: ["test"] } };
    await run({ permission: { toolCall: edit, options } }, write, permission("npm test"), terminal);
    const tools = () =>
      events.filter(({ type }) => type === "pre_action").map(({ payload }) => payload.tool_name);
    expect(tools()).toEqual(["edit", "bash"]);
    await run(write, terminal);
    expect(tools()).toEqual(["edit", "bash", "write", "bash"]);
  });

  it("waits while a human is asked, which the editor shows; without an answer the call is refused with the ticket", async () => {
    const answers: object[] = [];
    const decide = () =>
      answers.shift() ?? { decision: "defer", retry_after_ms: 10, reason: "approval T-1 is pending" };
    const { run, asked } = await guardAgent(decide, { limits: { holdMs: 300 } });
    const waiting = run(permission("npm publish"));
    await vi.waitFor(() => expect(JSON.stringify(asked)).toContain("waiting for a decision"));
    answers.push({ decision: "allow" });
    expect(await waiting).toEqual([selected("once")]);
    const [ticket, written] = await run(permission("npm publish"), {
      write: { path: "/work/app/a.txt", content: "x" },
    });
    expect(ticket).toMatchObject({
      ...selected("no"),
      _meta: { harnesskit: { reason: "approval T-1 is pending" } },
    });
    expect(written.message).toContain("approval T-1 is pending");
  });

  it("gets a cancelled answer when the turn is cancelled, and the harness learns that the question is over", async () => {
    const { run, editor, session, events, outcome } = await guardAgent(() => ({
      decision: "defer",
      retry_after_ms: 10,
      reason: "wait",
    }));
    const running = run(permission("npm publish"), { write: { path: "/work/app/a.txt", content: "x" } });
    const asked = (count: number) =>
      vi.waitFor(() => {
        const calls = events
          .filter(({ type }) => type === "pre_action")
          .map(({ payload }) => payload.tool_call_id);
        expect(new Set(calls).size).toBe(count);
      });
    await asked(1);
    await editor.notify(methods.agent.session.cancel, { sessionId: session });
    await asked(2);
    await editor.notify(methods.agent.session.cancel, { sessionId: session });
    expect(await running).toEqual([
      { outcome: { outcome: "cancelled" } },
      { code: -32800, message: "the call was cancelled" },
    ]);
    expect(await outcome()).toMatchObject({ outcome: "cancelled" });
  });

  it("is refused what is judged while the harness is away, and all else passes", async () => {
    const { editor, session: sessionId, asked } = await guardAgent(undefined);
    // Whether prompts are judged is not known without a harness.
    const end = await editor.request(methods.agent.session.prompt, { sessionId, prompt: [] });
    expect(end).toEqual({ stopReason: "refusal" });
    expect(JSON.stringify(asked)).toContain("the harness gave no decision");
    let isAway = false;
    const decide = () => (isAway ? new Promise(() => {}) : allow());
    const { run } = await guardAgent(decide, { limits: { holdMs: 1 } });
    isAway = true;
    expect(await run({ read: { path: "/work/app/a.txt" } }, permission("ls"))).toMatchObject([
      { content: "read" },
      selected("no"),
    ]);
  });

  it("has the tool calls recorded that it made without a question", async () => {
    const { run, outcome } = await guardAgent(allow);
    const call = { toolCallId: "r1", kind: "read", title: "a", locations: [{ path: "/work/app/a.txt" }] };
    await run(
      { update: { sessionUpdate: "tool_call", status: "pending", ...call } },
      {
        update: {
          sessionUpdate: "tool_call_update",
          toolCallId: "r1",
          status: "failed",
          rawOutput: { why: 1 },
        },
      },
    );
    expect(await outcome()).toMatchObject({
      tool_name: "read",
      arguments: { path: "/work/app/a.txt" },
      outcome: "error",
      result: { why: 1 },
    });
  });
});

describe("a prompt", () => {
  const promptOf = async (decide: () => unknown, prompt: object[]) => {
    const guarded = await guardAgent(({ event_type }) => (event_type === "pre_prompt" ? decide() : allow()), {
      prompts: true,
    });
    const { editor, session: sessionId, asked, events } = guarded;
    const end = await editor.request(methods.agent.session.prompt, { sessionId, prompt: prompt as never });
    // The SDK handles a notification after the answer that came behind it.
    const said = await vi.waitFor(() => {
      expect(asked).not.toEqual([]);
      return asked.map(({ params }) => params.update?.content?.text);
    });
    return { end, said, events, guarded };
  };
  const text = (said: string) => ({ type: "text", text: said });
  const file = { type: "resource", resource: { uri: "file:///a", text: "content" } };

  it("is refused as ACP has it, or passed on with a new text in the place of its only one", async () => {
    const refused = await promptOf(block, [text("hello"), file]);
    expect(refused.end).toEqual({ stopReason: "refusal" });
    expect(refused.said).toEqual([expect.stringContaining("not here")]);
    expect(refused.events.at(-1)).toMatchObject({
      type: "pre_prompt",
      payload: {
        prompt: "hello",
        attachments: [
          { type: "resource", uri: "file:///a", text: "content", digest: sha256Digest(canonicalJson(file)) },
        ],
      },
    });
    const modify = () => ({ decision: "modify", modified_payload: { prompt: "changed" } });
    const changed = await promptOf(modify, [text("hello")]);
    expect([changed.end, changed.said]).toEqual([{ stopReason: "end_turn" }, ['["changed"]']]);
    const several = await promptOf(modify, [text("a"), text("b")]);
    expect([several.end, several.said[0]]).toEqual([
      { stopReason: "refusal" },
      expect.stringContaining("not exactly one text"),
    ]);
  });

  it("that waits ends as cancelled with the turn, and its question is withdrawn", async () => {
    const { editor, session, events, outcome } = await guardAgent(
      () => ({ decision: "defer", retry_after_ms: 10, reason: "wait" }),
      { prompts: true },
    );
    const end = editor.request(methods.agent.session.prompt, {
      sessionId: session,
      prompt: [text("x")] as never,
    });
    await vi.waitFor(() => expect(events.at(-1)?.type).toBe("pre_prompt"));
    const { call_id } = events.at(-1)?.metadata ?? {};
    await editor.notify(methods.agent.session.cancel, { sessionId: session });
    expect(await end).toEqual({ stopReason: "cancelled" });
    expect(await outcome()).toMatchObject({ outcome: "cancelled", tool_call_id: call_id });
  });
});

describe("what passes an ACP proxy", () => {
  const received = (guarded: { received(): string }, line: string) =>
    vi.waitFor(() => expect(guarded.received().split("\n")).toContain(line));

  it("is the same to the byte both ways, white space, extensions, escapes and large numbers included", async () => {
    const guarded = await guardAgent(allow);
    const lines = [
      '{ "jsonrpc":"2.0","method":"_vendor/x",\t"params":{"n":12345678901234567890,"s":"\\u0041ü"}, "extra": [1] }',
      '{"method":"session/update","jsonrpc":"2.0","params":{"sessionId":"s","update":{"a":1,"a":2}}}',
    ];
    await guarded.run(...lines.map((line) => ({ raw: `${line}\n` })));
    for (const line of lines) await received(guarded, line);
    expect(guarded.notes).toEqual([expect.stringContaining("it is not known whether fixture asks")]);
    const {
      run,
      received: got,
      sendRaw,
    } = await guardAgent(allow, { command: [process.execPath, "-e", echo] });
    expect(run).toBeDefined();
    await sendRaw('{ "jsonrpc": "2.0", "method": "_vendor/y", "params": { "n": 1e2 } }\r\n');
    await received(
      { received: got },
      '{ "jsonrpc": "2.0", "method": "_vendor/y", "params": { "n": 1e2 } }\r',
    );
  });

  // Answers what the test sets up, and repeats every line to the editor.
  const echo = `
    require("node:readline").createInterface({ input: process.stdin }).on("line", () => {});
    process.stdin.on("data", (chunk) => {
      for (const line of chunk.toString().split(/(?<=\\n)/)) {
        const { id, method } = JSON.parse(line);
        if (method === "_vendor/y") process.stdout.write(line);
        else console.log(JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: 1, sessionId: "s" } }));
      }
    });`;

  it("is one message for every reader: a hidden request is not passed on", async () => {
    const guarded = await guardAgent(block);
    const request = {
      jsonrpc: "2.0",
      id: 77,
      method: "terminal/create",
      params: { sessionId: "s", command: "evil" },
    };
    const hidden = JSON.stringify(request);
    const update = { jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: {} } };
    const start = JSON.stringify(update).slice(0, -1);
    await guarded.run(
      // The first member of a name, or the last; other cases; lines that end elsewhere.
      { raw: `{"method":"terminal/create","id":77,"params":{"command":"evil"},${start.slice(1)},"id":1}\n` },
      { raw: `${start},"Method":"terminal/create","PARAM\u017f":{"command":"evil"}}\n` },
      { raw: `{"jsonrpc":"2.0","method":"_x","params":\r${hidden}\r}\n` },
      { raw: `{"jsonrpc":"2.0","method":"_y","params":"\u2028${hidden.replaceAll('"', "'")}\u2028"}\n` },
      { raw: `[${hidden}]\n` },
      { raw: `{"jsonrpc":"2.0","method":"terminal/create","params":{"sessionId":"s","command":"evil"}}\n` },
      { raw: `${JSON.stringify({ ...request, id: 1e300 })}\n` },
      { raw: `${JSON.stringify({ ...request, params: { sessionId: "s", command: ["evil"] } })}\n` },
    );
    const lines = guarded.received().split(/[\r\n\u2028\u2029]/);
    const messages = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    expect(messages.filter(({ method }) => method === "terminal/create")).toEqual([]);
    expect(guarded.received()).not.toMatch(/Method|PARAM/);
    expect(guarded.asked.filter(({ method }) => method === "terminal/create")).toEqual([]);
    expect(guarded.notes.join("\n")).toMatch(/batches are not taken/);
    expect(guarded.notes.join("\n")).toMatch(/terminal\/create without an id: dropped/);
  });

  it("goes on behind garbage, lines over the limit, and answers that belong to no request", async () => {
    const guarded = await guardAgent(allow);
    const line = '{"jsonrpc":"2.0","method":"_vendor/after"}';
    await guarded.sendRaw('garbage\n{"jsonrpc":"2.0","id":99,"result":{}}\n');
    await guarded.sendRaw(`{"jsonrpc":"2.0","method":"_x","params":"${"x".repeat(1024 * 1024)}"}\n`);
    const steps = [{ raw: "log line\n" }, { bytes: [0x22, 0xff, 0x22, 0x0a] }, { large: 1024 * 1024 }];
    await guarded.run(...steps, { raw: `${line}\n` });
    await received(guarded, line);
    expect(guarded.received()).not.toContain("log line");
    expect(guarded.received()).toContain('"code":-32700');
    expect(guarded.notes.length).toBeGreaterThan(2);
  });

  it("has version 1 of the protocol: a newer offer is lowered, and said", async () => {
    const { editor, notes } = await guardAgent(allow);
    const { protocolVersion } = await editor.request(methods.agent.initialize, {
      protocolVersion: 2,
      clientCapabilities: {},
    });
    expect(protocolVersion).toBe(1);
    expect(notes).toEqual([expect.stringContaining("not known"), expect.stringContaining("version 2")]);
  });
});

describe("the end of an ACP proxy", () => {
  const wait = () => ({ decision: "defer", retry_after_ms: 10, reason: "wait" });
  const asks = ({ events }: Awaited<ReturnType<typeof guardAgent>>) =>
    vi.waitFor(() => expect(events.some(({ type }) => type === "pre_action")).toBe(true));
  const withdrawn = async ({ events, ahp }: Awaited<ReturnType<typeof guardAgent>>) => {
    await ahp.flush();
    expect(events.filter(({ type }) => type === "post_action").map(({ payload }) => payload.outcome)).toEqual(
      ["cancelled"],
    );
    expect(events.at(-1)?.type).toBe("session_end");
  };

  it("comes with the end of the editor: what waits is withdrawn", async () => {
    const guarded = await guardAgent(wait);
    guarded.run(permission("npm publish")).catch(() => {});
    await asks(guarded);
    guarded.leave();
    expect(await guarded.ended).toBeUndefined();
    await withdrawn(guarded);
  });

  it("comes with the end of the agent: what waits is withdrawn, and its failure is the reason", async () => {
    const guarded = await guardAgent(wait, { command: agentProgram });
    const { editor, session: sessionId } = guarded;
    const prompt = (steps: object[]) =>
      editor
        .request(methods.agent.session.prompt, {
          sessionId,
          prompt: [{ type: "text", text: JSON.stringify(steps) }],
        })
        .catch(() => {});
    void prompt([permission("npm publish")]);
    await asks(guarded);
    void prompt([{ exit: 3 }]);
    expect(await guarded.ended).toMatchObject({ code: "child_exited" });
    await withdrawn(guarded);
  });
});
