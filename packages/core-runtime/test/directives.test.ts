import { createMemoryAuditSink } from "@harnesskit/audit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../scripts/lib/nightly.ts";
import { nextTurn } from "../../../scripts/lib/test-kit.ts";
import type { CallOptions, CoreOptions, Directive, DirectiveRequest } from "../src/index.ts";
import { connected, echoTool, openCore } from "./support/scripted-agent.ts";

const tools = [
  echoTool("demo.agent", "echo", { requires_directive: true, input_schema: { type: "object" } }),
  echoTool("demo.agent", "other", { requires_directive: true }),
  echoTool("demo.agent", "free"),
];

const setUp = async (options: CoreOptions = {}) => {
  const audit = createMemoryAuditSink();
  const clock = createManualClock();
  const core = openCore({ audit, clock, heartbeatIntervalMs: 10_000_000, ...options });
  const { agent } = await connected(core, { tools });
  const later = (ms: number) => new Date(clock.now() + ms).toISOString();
  const issue = async (request: Partial<DirectiveRequest> = {}) =>
    core.directives.issue({
      tool_id: "demo.agent/echo",
      ...(request.match ? {} : { input: { text: "a" } }),
      issued_by: { type: "human", id: "ada" },
      until: later(60_000),
      ...request,
    });
  const call = (directiveId: string | undefined, input: JsonObject = { text: "a" }, more: CallOptions = {}) =>
    core.call("demo.agent/echo", input, { ...(directiveId !== undefined && { directiveId }), ...more });
  /** Answers what is sent, and gives how the call ended: its status, or why no directive backs it. */
  const endOf = async ({ result }: { result: Promise<unknown> }): Promise<string> => {
    const end = (await result) as { status: string; error?: { code: string; details?: { reason: string } } };
    if (end.error?.code !== "tool.directive_required") return end.error?.code ?? end.status;
    return end.error.details?.reason ?? "";
  };
  const sent = () => agent.ofType("core.tool.call").length;
  const answer = () => {
    agent.onMessage = (message) => {
      if (message.type === "core.tool.call") agent.succeed(message);
    };
  };
  const actions = () =>
    audit
      .entries()
      .flatMap((entry) => ("action" in entry && /^(directive|tool)\./.test(entry.action) ? [entry] : []));
  return { core, agent, clock, issue, call, endOf, sent, answer, actions, later };
};

describe("a directive", () => {
  it("backs one call of its tool and input, and is recorded without content", async () => {
    const { core, agent, issue, call, endOf, answer, actions, sent } = await setUp();
    answer();
    const secret = { text: "hush" };
    const directive = await issue({ input: secret, causation_id: "apr_1" });
    expect(directive).toMatchObject({
      uses: 0,
      max_uses: 1,
      input: { digest: expect.stringMatching(/^sha256:/) },
    });
    expect(await endOf(call(directive.id, secret))).toBe("succeeded");
    expect(agent.ofType("core.tool.call")[0]).toMatchObject({ causation_id: directive.id });
    expect(await endOf(call(directive.id, secret))).toBe("spent");
    expect(sent()).toBe(1);
    expect(core.directives.list()[0]).toMatchObject({ id: directive.id, uses: 1 });
    expect(actions()).toMatchObject([
      {
        action: "directive.issued",
        actor: { id: "ada" },
        causation_id: "apr_1",
        details: { directive_id: directive.id },
      },
      {
        action: "directive.used",
        tool_id: "demo.agent/echo",
        details: { directive_id: directive.id, uses: 1 },
      },
      { action: "tool.call", causation_id: directive.id, outcome: "ok" },
      {
        action: "tool.result",
        outcome: "refused",
        details: { code: "tool.directive_required", reason: "spent" },
      },
    ]);
    expect(JSON.stringify([actions(), core.directives.list()])).not.toContain("hush");
    await core.close();
  });

  it.each<[string, (kit: Awaited<ReturnType<typeof setUp>>) => Promise<Promise<string>> | Promise<string>]>([
    ["missing", async ({ call, endOf }) => endOf(call(undefined))],
    ["missing", async ({ call, endOf }) => endOf(call(undefined, { text: "a" }, { causationId: "event-1" }))],
    ["unknown", async ({ call, endOf }) => endOf(call("dir_1"))],
    ["unknown", async ({ call, endOf, issue }) => endOf(call(` ${(await issue()).id}`))],
    ["unknown", async ({ call, endOf }) => endOf(call("__proto__"))],
    [
      "wrong_tool",
      async ({ call, endOf, issue }) => endOf(call((await issue({ tool_id: "demo.agent/other" })).id)),
    ],
    [
      "wrong_agent",
      async ({ call, endOf, issue }) => endOf(call((await issue({ tool_id: "demo/echo" })).id)),
    ],
    ["wrong_input", async ({ call, endOf, issue }) => endOf(call((await issue()).id, { text: "b" }))],
    [
      "wrong_input",
      async ({ call, endOf, issue }) => endOf(call((await issue()).id, { text: "a", more: null })),
    ],
    ["wrong_input", async ({ call, endOf, issue }) => endOf(call((await issue()).id, { text: "\ud800" }))],
    [
      "wrong_input",
      async ({ call, endOf, issue }) =>
        endOf(call((await issue({ match: JSON.parse('{"__proto__":1,"text":"a"}') })).id, { text: "a" })),
    ],
    [
      "wrong_input",
      async ({ call, endOf, issue }) => endOf(call((await issue({ match: { toString: 1 } })).id)),
    ],
    [
      "expired",
      async ({ call, endOf, issue, clock }) => {
        const { id } = await issue();
        clock.advance(60_000);
        return endOf(call(id));
      },
    ],
    [
      "revoked",
      async ({ call, endOf, issue, core }) => {
        const { id } = await issue();
        core.directives.revoke(id, "bob");
        return endOf(call(id));
      },
    ],
  ])("is refused as %s before anything is sent, and not used (%#)", async (reason, run) => {
    const kit = await setUp();
    expect(await run(kit)).toBe(reason);
    await nextTurn(5);
    expect(kit.sent()).toBe(0);
    expect((await kit.core.directives.list()).every(({ uses }) => uses === 0)).toBe(true);
    expect(kit.actions().at(-1)).toMatchObject({ outcome: "refused", details: { reason } });
    await kit.core.close();
  });

  it("is not in force before its time", async () => {
    const clock = createManualClock();
    let backMs = 0;
    const { call, endOf, issue, sent } = await setUp({
      clock: { ...clock, now: () => clock.now() - backMs },
    });
    const { id } = await issue({ until: new Date(clock.now() + 7_200_000).toISOString() });
    backMs = 3_600_000;
    expect(await endOf(call(id))).toBe("not_yet_valid");
    expect(sent()).toBe(0);
  });

  it("may be for some fields of the input, the others being free", async () => {
    const { call, endOf, issue, answer } = await setUp();
    answer();
    const { id, input } = await issue({ match: { env: "staging", tags: ["a", 1] }, max_uses: 9 });
    expect(JSON.stringify(input)).not.toContain("staging");
    expect(await endOf(call(id, { version: 7, tags: ["a", 1], env: "staging" }))).toBe("succeeded");
    expect(await endOf(call(id, { tags: ["a", 1], env: "Staging" }))).toBe("wrong_input");
    expect(await endOf(call(id, { env: "staging" }))).toBe("wrong_input");
  });

  it("that a call names is used also where the tool requires none", async () => {
    const { core, endOf, issue, answer, sent } = await setUp();
    answer();
    const free = (directiveId: string) => endOf(core.call("demo.agent/free", { text: "a" }, { directiveId }));
    expect(await free("dir_1")).toBe("unknown");
    const { id } = await issue({ tool_id: "demo.agent/free" });
    expect([await free(id), await free(id)]).toEqual(["succeeded", "spent"]);
    expect(sent()).toBe(1);
  });

  it("is used as a call is sent: not by one that ends while it waits, and no more after its revocation", async () => {
    const { core, agent, call, endOf, issue, sent } = await setUp({ limits: { maxInFlightRequests: 1 } });
    const usesOf = () => core.directives.list().map(({ uses }) => uses);
    const running = core.call("demo.agent/free", { text: "" });
    const first = await agent.next("core.tool.call");
    const { id } = await issue();
    const [canceled, waiting, second] = [call(id), call(id), call(id)];
    canceled.cancel();
    expect(await endOf(canceled)).toBe("tool.canceled");
    const revoked = await issue();
    const late = call(revoked.id);
    core.directives.revoke(revoked.id, "bob");
    expect(usesOf()).toEqual([0, 0]);
    agent.succeed(first);
    await running.result;
    agent.succeed(await agent.next("core.tool.call"));
    expect(await Promise.all([waiting, second, late].map(endOf))).toEqual(["succeeded", "spent", "revoked"]);
    expect(sent()).toBe(2);
    const lost = call((await issue()).id);
    await agent.next("core.tool.call");
    await agent.channel.close();
    expect(await endOf(lost)).toBe("agent.lost");
    expect(usesOf()).toEqual([1, 0, 1]);
    await core.close();
  });

  it("is used once by calls with one idempotency key; each must have one that fits", async () => {
    const { core, call, endOf, issue, answer, sent } = await setUp();
    answer();
    const { id } = await issue();
    const key = { idempotencyKey: "k" };
    const both = [call(id, { text: "a" }, key), call(id, { text: "a" }, key)];
    expect(await Promise.all(both.map(endOf))).toEqual(["succeeded", "succeeded"]);
    expect(await endOf(call(id, { text: "a" }, key))).toBe("succeeded");
    expect(await endOf(call("dir_1", { text: "a" }, key))).toBe("unknown");
    expect(await endOf(call(undefined, { text: "a" }, key))).toBe("missing");
    expect(sent()).toBe(1);
    expect(core.directives.list()[0]?.uses).toBe(1);
  });

  it("is revoked once, and keeps who did it", async () => {
    const { core, issue, actions } = await setUp();
    const { id } = await issue();
    const revoked = core.directives.revoke(id, "bob");
    expect(revoked).toMatchObject({ revoked_by: "bob", revoked_at: expect.any(String) });
    expect(core.directives.revoke(id, "eve")).toEqual(revoked);
    expect(actions().at(-1)).toMatchObject({ action: "directive.revoked" });
    expect(() => core.directives.revoke("dir_1", "bob")).toThrow(
      expect.objectContaining({ code: "directive_unknown" }),
    );
  });

  it.each<[string, Partial<DirectiveRequest>]>([
    ["neither input nor match", { input: undefined as never }],
    ["both", { input: { a: 1 }, match: { a: 1 } }],
    ["no field to match", { match: {} }],
    ["an input that is no object", { input: [] as never }],
    ["an input that is not JSON", { input: { a: Number.NaN } }],
    ["half a surrogate pair", { input: { a: "\ud800" } }],
    ["a tool without an agent", { tool_id: "echo" }],
    ["a time that is over", { until: "2000-01-01T00:00:00Z" }],
    ["no time", { until: "soon" }],
    ["no uses", { max_uses: 0 }],
    ["an issuer of another kind", { issued_by: { type: "model" as never, id: "x" } }],
  ])("is not issued with %s", async (_what, request) => {
    const { core, issue } = await setUp();
    await expect(issue(request)).rejects.toBeInstanceOf(InvalidArgumentError);
    expect(core.directives.list()).toEqual([]);
  });

  it("that has ended makes room: the last of them are kept", async () => {
    const { core, clock, issue, call, endOf, later } = await setUp();
    const open = await issue({ until: later(10_000_000) });
    for (let n = 0; n < 300; n++) {
      const { id } = await issue({ until: later(1) });
      clock.advance(1);
      if (n === 299) expect(await endOf(call(id))).toBe("expired");
    }
    const kept = core.directives.list();
    expect(kept.length).toBeLessThanOrEqual(258);
    expect(kept[0]).toEqual(open);
  });

  it("backs exactly the input that it was issued for (property)", async () => {
    const { core, call, endOf, issue, answer } = await setUp();
    answer();
    const input = fc.dictionary(fc.constantFrom("a", "b", "__proto__"), fc.jsonValue({ maxDepth: 2 }), {
      maxKeys: 3,
    });
    await fc.assert(
      fc.asyncProperty(input, input, async (issued, called) => {
        let directive: Directive;
        try {
          directive = await issue({ input: issued as JsonObject });
        } catch {
          return;
        }
        const end = await endOf(call(directive.id, called as JsonObject));
        const text = (value: object) =>
          JSON.stringify(value, (_key, each) =>
            each && typeof each === "object" && !Array.isArray(each)
              ? Object.fromEntries(Object.entries(each).sort())
              : each,
          );
        expect(end).toBe(text(issued) === text(called) ? "succeeded" : "wrong_input");
        expect(
          await endOf(call((await issue({ input: called as JsonObject })).id, called as JsonObject)),
        ).toBe("succeeded");
      }),
      { numRuns: runs(20) },
    );
    await core.close();
  });
});
