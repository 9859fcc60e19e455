import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import type { DirectiveRequest } from "../src/directives.ts";
import type { CallOptions, CoreOptions } from "../src/index.ts";
import { echoTool, setUp as open } from "./support/scripted-agent.ts";

const tools = [
  echoTool("demo.agent", "echo", { requires_directive: true, input_schema: { type: "object" } }),
  echoTool("demo.agent", "other", { requires_directive: true }),
  echoTool("demo.agent", "free"),
];

const setUp = async (options: CoreOptions = {}) => {
  const { core, clock, agent, entries } = await open(
    { heartbeatIntervalMs: 10_000_000, ...options },
    { tools },
  );
  const issue = (request: Partial<DirectiveRequest> = {}) =>
    core.directives.issue({
      tool_id: "demo.agent/echo",
      input: { text: "a" },
      issued_by: { type: "human", id: "ada" },
      until: new Date(clock.now() + 60_000).toISOString(),
      ...request,
    });
  const call = (directiveId: string | undefined, input: JsonObject = { text: "a" }, more: CallOptions = {}) =>
    core.call("demo.agent/echo", input, { directiveId, ...more });
  /** How the call ended: its status, or why no directive backs it. */
  const endOf = async ({ result }: { result: Promise<unknown> }): Promise<string> => {
    const end = (await result) as { status: string; error?: { code: string; details?: { reason: string } } };
    if (end.error?.code !== "tool.directive_required") return end.error?.code ?? end.status;
    return end.error.details?.reason ?? "";
  };
  const sent = () => agent.ofType("core.tool.call").length;
  const answer = () => agent.answer();
  const actions = () => entries().filter(({ action }) => /^(directive|tool)\./.test(action));
  const uses = () => core.directives.list().map((directive) => directive.uses);
  return { core, agent, clock, issue, call, endOf, sent, answer, actions, uses };
};

describe("a directive", () => {
  it("backs one call of its tool and input, and is recorded without content", async () => {
    const { core, agent, issue, call, endOf, answer, actions, sent } = await setUp();
    answer();
    const secret = { text: "hush" };
    const directive = issue({ input: secret, causation_id: "apr_1" });
    const { id } = directive;
    expect(directive).toMatchObject({
      uses: 0,
      max_uses: 1,
      input_digest: expect.stringMatching(/^sha256:/),
    });
    expect(await endOf(call(id, secret))).toBe("succeeded");
    expect(agent.ofType("core.tool.call")[0]).toMatchObject({ causation_id: id });
    expect(await endOf(call(id, secret))).toBe("spent");
    expect(sent()).toBe(1);
    expect(core.directives.list()).toMatchObject([{ id, uses: 1 }]);
    const details = { directive_id: id };
    expect(actions()).toMatchObject([
      { action: "directive.issued", actor: { id: "ada" }, causation_id: "apr_1", details },
      { action: "directive.used", tool_id: "demo.agent/echo", details: { ...details, uses: 1 } },
      { action: "tool.call", causation_id: id, outcome: "ok" },
      {
        action: "tool.result",
        outcome: "refused",
        details: { code: "tool.directive_required", reason: "spent" },
      },
    ]);
    expect(JSON.stringify([actions(), core.directives.list()])).not.toContain("hush");
  });

  type Kit = Awaited<ReturnType<typeof setUp>>;
  it.each<[string, (kit: Kit) => { result: Promise<unknown> }]>([
    ["missing", ({ call }) => call(undefined)],
    ["unknown", ({ call }) => call("dir_1")],
    ["unknown", ({ call }) => call("__proto__")],
    ["wrong_tool", ({ call, issue }) => call(issue({ tool_id: "demo.agent/other" }).id)],
    ["wrong_tool", ({ call, issue }) => call(issue({ tool_id: "demo/echo" }).id)],
    ["wrong_input", ({ call, issue }) => call(issue().id, { text: "b" })],
    ["wrong_input", ({ call, issue }) => call(issue().id, { text: "a", more: null })],
    ["wrong_input", ({ call, issue }) => call(issue().id, JSON.parse('{"text":"a","__proto__":1}'))],
    [
      "expired",
      ({ call, issue, clock }) => {
        const { id } = issue();
        clock.advance(60_000);
        clock.correct(-3_600_000);
        return call(id);
      },
    ],
    [
      "expired",
      ({ call, issue, clock }) => {
        const { id } = issue();
        // As after a sleep of the machine.
        clock.correct(60_000);
        return call(id);
      },
    ],
    [
      "revoked",
      ({ call, issue, core }) => {
        const { id } = issue();
        core.directives.revoke(id, "bob");
        return call(id);
      },
    ],
  ])("is refused as %s before anything is sent, and not used (%#)", async (reason, run) => {
    const kit = await setUp();
    expect(await kit.endOf(run(kit))).toBe(reason);
    expect(kit.sent()).toBe(0);
    expect(kit.uses().every((uses) => uses === 0)).toBe(true);
    expect(kit.actions().at(-1)).toMatchObject({ outcome: "refused", details: { reason } });
  });

  it("that a call names is used also where the tool requires none", async () => {
    const { core, endOf, issue, answer, sent } = await setUp();
    answer();
    const free = (directiveId: string) => endOf(core.call("demo.agent/free", { text: "a" }, { directiveId }));
    expect(await free("dir_1")).toBe("unknown");
    const { id } = issue({ tool_id: "demo.agent/free" });
    expect([await free(id), await free(id)]).toEqual(["succeeded", "spent"]);
    expect(sent()).toBe(1);
  });

  it("is used as a call is sent: not by one that ends while it waits, and no more after its revocation", async () => {
    const { core, agent, call, endOf, issue, sent, uses } = await setUp({
      limits: { maxInFlightRequests: 1 },
    });
    const running = core.call("demo.agent/free", { text: "" });
    const first = await agent.next("core.tool.call");
    const { id } = issue();
    const [canceled, waiting, second] = [call(id), call(id), call(id)];
    canceled.cancel();
    expect(await endOf(canceled)).toBe("tool.canceled");
    const revoked = issue();
    const late = call(revoked.id);
    core.directives.revoke(revoked.id, "bob");
    expect(uses()).toEqual([0, 0]);
    agent.succeed(first);
    await running.result;
    agent.succeed(await agent.next("core.tool.call"));
    expect(await Promise.all([waiting, second, late].map(endOf))).toEqual(["succeeded", "spent", "revoked"]);
    expect(sent()).toBe(2);
    const lost = call(issue().id);
    await agent.next("core.tool.call");
    await agent.channel.close();
    expect(await endOf(lost)).toBe("agent.lost");
    expect(uses()).toEqual([1, 0, 1]);
  });

  it("is used once by calls with one idempotency key; each must have one that fits", async () => {
    const { call, endOf, issue, answer, sent, uses } = await setUp();
    answer();
    const { id } = issue();
    const key = { idempotencyKey: "k" };
    const both = [call(id, { text: "a" }, key), call(id, { text: "a" }, key)];
    expect(await Promise.all(both.map(endOf))).toEqual(["succeeded", "succeeded"]);
    expect(await endOf(call(id, { text: "a" }, key))).toBe("succeeded");
    expect(await endOf(call("dir_1", { text: "a" }, key))).toBe("unknown");
    expect(await endOf(call(undefined, { text: "a" }, key))).toBe("missing");
    expect(sent()).toBe(1);
    expect(uses()).toEqual([1]);
  });

  it("is revoked once, and keeps who did it", async () => {
    const { core, issue, actions } = await setUp();
    const { id } = issue();
    const revoked = core.directives.revoke(id, "bob");
    expect(revoked).toMatchObject({ revoked_by: "bob", revoked_at: expect.any(String) });
    expect(core.directives.revoke(id, "eve")).toEqual(revoked);
    expect(actions().at(-1)).toMatchObject({ action: "directive.revoked" });
    expect(() => core.directives.revoke("dir_1", "bob")).toThrow(
      expect.objectContaining({ code: "directive_unknown" }),
    );
  });

  it.each<[string, Partial<DirectiveRequest>]>([
    ["no input", { input: undefined as never }],
    ["an input that is no object", { input: [] as never }],
    ["half a surrogate pair", { input: { a: "\ud800" } }],
    ["a time that is over", { until: "2000-01-01T00:00:00Z" }],
    ["no time", { until: "soon" }],
    ["a leap second, which never comes", { until: "2999-12-31T23:59:60Z" }],
    ["no uses", { max_uses: 0 }],
    ["an issuer of another kind", { issued_by: { type: "model" as never, id: "x" } }],
  ])("is not issued with %s", async (_what, request) => {
    const { core, issue } = await setUp();
    expect(() => issue(request)).toThrow(InvalidArgumentError);
    expect(core.directives.list()).toEqual([]);
  });

  it("that has expired makes room", async () => {
    const { core, clock, issue } = await setUp();
    issue();
    const { id } = issue({ until: new Date(clock.now() + 120_000).toISOString() });
    clock.advance(60_000);
    const next = issue();
    expect(core.directives.list().map((directive) => directive.id)).toEqual([id, next.id]);
  });
});
