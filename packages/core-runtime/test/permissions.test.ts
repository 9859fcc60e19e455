import { type AuditSink, createMemoryAuditSink } from "@harnesskit/audit";
import { InvalidArgumentError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { CoreContext } from "../src/core-context.ts";
import {
  addGrants,
  type CallOptions,
  type CoreGrant,
  type CoreOptions,
  createMemoryGrants,
  readingPermissions,
  removeGrants,
  toGrants,
} from "../src/index.ts";
import type { GrantRequest } from "../src/permissions/grants.ts";
import { connected, coreOf, echoTool } from "./support/scripted-agent.ts";

const agentId = "demo.agent";
const manifest = (permissions: readonly string[]) => ({
  manifest: { id: agentId, version: "1.0.0", command: ["x"] as [string], permissions: [...permissions] },
});

const grants = (request: Partial<GrantRequest>, clock = createManualClock()): CoreGrant[] =>
  toGrants({ agent_id: agentId, permissions: ["side_effects"], granted_by: "ada", ...request }, clock);

/** A core as it is by default, and an agent whose tool needs what is declared. */
const setUp = async (
  options: CoreOptions = {},
  { tool = {}, permissions = [] as readonly string[] } = {},
) => {
  const audit = createMemoryAuditSink();
  const clock = createManualClock();
  const core = coreOf({ audit, clock, ...options });
  const { agent } = await connected(core, {
    tools: [echoTool(agentId, "echo", tool)],
    launch: manifest(permissions),
  });
  const call = async (given?: CallOptions) => {
    const { result } = core.call(`${agentId}/echo`, { text: "" }, given);
    await nextTurn(5);
    for (const message of agent.ofType("core.tool.call").slice(answered)) {
      answered++;
      agent.succeed(message);
    }
    const end = await result;
    return end.status === "succeeded" ? "allowed" : end.error;
  };
  let answered = 0;
  return { core, agent, call, clock, sent: () => agent.ofType("core.tool.call").length, audit };
};

describe("without a grant", () => {
  it("an agent may read: a tool without side effects that needs reading permissions only", async () => {
    const reader = { tool: { side_effects: false } };
    const bare = await setUp({}, reader);
    expect(await bare.call()).toBe("allowed");
    const reading = await setUp({}, { ...reader, permissions: readingPermissions });
    expect(await reading.call({ caller: { type: "agent", id: "any" } })).toBe("allowed");
    expect(readingPermissions).toEqual(["fs.read", "mcp.read"]);
  });

  it.each([
    ["does not say whether it has side effects", {}, ["fs.read"], ["side_effects"]],
    ["needs both", { side_effects: true }, ["net", "net"], ["side_effects", "net"]],
    ["declares a permission of its own", { side_effects: false, permissions: ["net"] }, [], ["net"]],
  ])("a tool that %s is refused before anything is sent", async (_what, tool, permissions, missing) => {
    const { call, sent, audit } = await setUp({}, { tool, permissions });
    expect(await call()).toEqual({
      code: "tool.forbidden",
      message: expect.stringMatching(
        new RegExp(
          `lacks .*${missing.join(", ")}( \\(by its manifest.*\\))?: this core has no option grants`,
        ),
      ),
      where: "core",
      details: { missing },
    });
    expect(sent()).toBe(0);
    expect(audit.entries().at(-1)).toMatchObject({
      action: "tool.result",
      outcome: "refused",
      tool_id: "demo.agent/echo",
      details: { code: "tool.forbidden", missing: missing.join(" ") },
    });
  });

  it("a tool needs what it declares itself, where it does, and not all of its manifest", async () => {
    const tool = { side_effects: false, permissions: ["fs.read"] };
    const { call } = await setUp({}, { tool, permissions: ["fs.read", "fs.write"] });
    expect(await call()).toBe("allowed");
  });

  it("no name but exactly that of a reading permission is one", async () => {
    const variants = [
      "FS.READ",
      "fs.read ",
      " fs.read",
      "fs.read\u200b",
      "fs.re\u0430d",
      "fs\uff0eread",
      "__proto__",
      "constructor",
      "*",
      "fs.*",
    ];
    for (const name of variants) {
      const { call, sent } = await setUp({}, { tool: { side_effects: false }, permissions: [name] });
      expect(await call()).toMatchObject({ code: "tool.forbidden" });
      expect(sent()).toBe(0);
    }
  });
});

describe("a grant", () => {
  const twoPermissions = { tool: { side_effects: true }, permissions: ["fs.write"] };

  it("allows the call once each permission is granted", async () => {
    const store = createMemoryGrants();
    const { call, clock } = await setUp({ grants: store }, twoPermissions);
    await addGrants(store, { agent_id: agentId, permissions: ["side_effects"], granted_by: "ada" }, clock);
    expect(await call()).toMatchObject({ details: { missing: ["fs.write"] } });
    await addGrants(store, { agent_id: agentId, permissions: ["fs.write"], granted_by: "ada" }, clock);
    expect(await call()).toBe("allowed");
    await removeGrants(store, ({ permission }) => permission === "fs.write");
    expect(await call()).toMatchObject({ details: { missing: ["fs.write"] } });
  });

  it.each<[string, Partial<GrantRequest>, CallOptions, boolean]>([
    ["for this tool", { tools: ["other", "echo"] }, {}, true],
    ["for another tool", { tools: ["other"] }, {}, false],
    ["for another agent", { agent_id: "demo" }, {}, false],
    [
      "for this caller",
      { caller: { type: "human", id: "ada" } },
      { caller: { type: "human", id: "ada" } },
      true,
    ],
    [
      "for a caller of another type",
      { caller: { type: "human", id: "ada" } },
      { caller: { type: "agent", id: "ada" } },
      false,
    ],
    ["for a caller, of a call without one", { caller: { type: "human", id: "ada" } }, {}, false],
    [
      "for a caller, of a call whose actor it is",
      { caller: { type: "human", id: "ada" } },
      { actor: { type: "human", id: "ada" } },
      false,
    ],
    [
      "for this actor",
      { actor: { type: "human", id: "ada" } },
      { actor: { type: "human", id: "ada", display: "A" } },
      true,
    ],
    [
      "for another actor",
      { actor: { type: "human", id: "ada" } },
      { actor: { type: "human", id: "Ada" } },
      false,
    ],
  ])("%s", async (_what, request, options, isAllowed) => {
    const clock = createManualClock();
    const { call } = await setUp({ clock, grants: createMemoryGrants(grants(request, clock)) });
    const end = await call(options);
    expect(end === "allowed").toBe(isAllowed);
    if (!isAllowed) expect(end).toMatchObject({ code: "tool.forbidden" });
  });

  it("ends at its time, and a clock that is set back does not bring it back", async () => {
    const clock = createManualClock();
    const until = new Date(clock.now() + 1000).toISOString();
    const { call } = await setUp({ clock, grants: createMemoryGrants(grants({ until }, clock)) });
    clock.advance(999);
    expect(await call()).toBe("allowed");
    clock.advance(1);
    expect(await call()).toMatchObject({ code: "tool.forbidden", message: expect.stringContaining("time") });
    const earlier = createManualClock();
    const given = {
      ...(grants({ until }, clock)[0] as CoreGrant),
      granted_at: new Date(earlier.now() + 120_000).toISOString(),
    };
    const back = await setUp({ clock: earlier, grants: createMemoryGrants([given]) });
    expect(await back.call()).toMatchObject({ code: "tool.forbidden" });
  });

  it("without an end holds whatever the clock is set to", async () => {
    const { call, clock } = await setUp({ grants: createMemoryGrants(grants({})) });
    clock.correct(-86_400_000);
    expect(await call()).toBe("allowed");
    clock.correct(365 * 86_400_000);
    expect(await call()).toBe("allowed");
  });

  it.each([
    [{ operatorCommand: "harness core" }, "harness core grant demo.agent fs.write --tool echo"],
    [{}, "add it with addGrants to the store that this core has as its option grants"],
  ])(
    "that is missing is named with what adds it to the grants of this core (%j)",
    async (options, advice) => {
      const store = createMemoryGrants(grants({}));
      const { call } = await setUp({ grants: store, ...options }, twoPermissions);
      const { message } = (await call()) as { readonly message: string };
      expect(message).toMatch(/^demo\.agent lacks the permission fs\.write \(/);
      expect(message.endsWith(`: ${advice}`)).toBe(true);
    },
  );

  it("that only its manifest names is said to be needed by default, and how a tool says otherwise", async () => {
    const tool = { side_effects: false };
    const { call } = await setUp({}, { tool, permissions: ["fs.write"] });
    const how = "by its manifest, since the tool names no `permissions` of its own ([] for none)";
    const message = expect.stringContaining(`demo.agent lacks the permission fs.write (${how}): `);
    expect(await call()).toMatchObject({ code: "tool.forbidden", message });
    const own = await setUp({}, { tool: { ...tool, permissions: [] }, permissions: ["fs.write"] });
    expect(await own.call()).toBe("allowed");
    const acts = await setUp({}, { tool: {}, permissions: [] });
    expect(await acts.call()).toMatchObject({ message: expect.not.stringContaining("manifest") });
  });

  it("that is not valid is not made, and two deciders are refused, and an audit that is no sink", () => {
    const audit = { record() {}, async flush() {}, async close() {} } as unknown as AuditSink;
    expect(() => new CoreContext({ audit })).toThrow(
      new InvalidArgumentError(
        "options.audit has no addSecret, no removeSecret: it must be an AuditSink of @harnesskit/audit",
      ),
    );
    for (const request of [
      { agent_id: "no agent" },
      { permissions: [""] },
      { permissions: ["fs.re\u0430d"] },
      { permissions: ["-x"] },
      { tools: [] },
      { tools: ["a/b"] },
      { until: "tomorrow" },
      { caller: { type: "robot", id: "x" } as never },
    ]) {
      expect(() => grants(request)).toThrow(InvalidArgumentError);
    }
    const both = { authorize: () => ({ allowed: true as const }), grants: createMemoryGrants() };
    expect(() => new CoreContext(both)).toThrow(InvalidArgumentError);
  });

  it("cannot be read: nothing is granted, but reading", async () => {
    for (const list of [
      () => {
        throw new Error("secret");
      },
      () => Promise.reject(new Error("secret")),
    ]) {
      const broken = { ...createMemoryGrants(), list };
      const { call, sent } = await setUp({ grants: broken });
      expect(await call()).toMatchObject({
        code: "tool.forbidden",
        message: "the grants cannot be read, so nothing is granted (unknown)",
      });
      expect(sent()).toBe(0);
      const reading = await setUp({ grants: broken }, { tool: { side_effects: false } });
      expect(await reading.call()).toBe("allowed");
    }
  });
});
