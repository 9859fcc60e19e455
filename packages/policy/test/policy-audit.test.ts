import { createMemoryAuditSink } from "@harnesskit/audit";
import type { AhpEvent } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  backtest,
  contentAuditLimits,
  createPolicyAudit,
  createPolicyHarness,
  type Policy,
} from "../src/index.ts";
import { policyOf, toolEvent } from "./support/policies.ts";
import { event, startServer } from "./support/server.ts";

const token = `ghp_${"aB3".repeat(12)}`;
const policy = policyOf(`
name: team
rules:
  - { name: told, mode: shadow, when: { tool: bash }, then: escalate }
  - { name: force, when: { tool: bash, cel: 'args.command.contains("--force")' }, then: block }
  - { name: reads, when: { tool: read }, then: allow }
`);

/** A server under a policy, and the entries of events in its audit. */
const serve = async (recordContent: boolean, by: Policy = policy) => {
  const sink = createMemoryAuditSink({ limits: contentAuditLimits });
  const audit = createPolicyAudit({ sink, recordContent });
  const harness = createPolicyHarness({ policy: by, onDecision: audit.onDecision });
  const { server, ask, notify } = await startServer(harness.handlers, {
    capabilities: harness.capabilities,
    audit,
  });
  const decide = (tool_name: string, args: JsonObject = {}) =>
    ask("ahp/event", event("pre_action", { payload: { tool_name, arguments: args } }));
  const entries = () => sink.entries().filter(({ action }) => action === "ahp.event");
  return { server, ask, notify, decide, entries };
};

/** What the log keeps of one event. */
const recorded = (payload: unknown): { text: string | undefined; isCut: boolean; log: string } => {
  const sink = createMemoryAuditSink({ limits: contentAuditLimits });
  const audit = createPolicyAudit({ sink, recordContent: true });
  const made = { ...toolEvent("x"), payload } as AhpEvent;
  sink.record({ action: "ahp.event", details: audit.eventDetails?.(made) });
  const [entry] = sink.entries();
  return {
    text: entry?.details?.event as string | undefined,
    isCut: entry?.details?.event_cut === true,
    log: JSON.stringify(entry),
  };
};

describe("the audit of a policy", () => {
  it("names the rule, what decided otherwise, and what rules in shadow would have decided", async () => {
    const { server, notify, decide, entries } = await serve(false);
    await decide("bash", { command: "git push --force" });
    await decide("read");
    await decide("deploy");
    await notify(event("post_action"));
    expect(entries().map(({ details }) => details)).toEqual([
      { event_type: "pre_action", depth: 0, decision: "block", rule: "force", shadowed: "told: escalate" },
      { event_type: "pre_action", depth: 0, decision: "allow", rule: "reads" },
      { event_type: "pre_action", depth: 0, decision: "block", source: "default" },
      { event_type: "post_action", depth: 0, source: "default" },
    ]);
    await server.close();
  });

  it("says what a whole policy in shadow would have decided", async () => {
    const { server, decide, entries } = await serve(false, policyOf("mode: shadow\nrules: []"));
    await decide("bash");
    expect(entries()[0]?.details).toMatchObject({ decision: "allow", source: "default", would: "block" });
    await server.close();
  });

  it("keeps events for a backtest where content is recorded, in batches too", async () => {
    const { server, ask, decide, entries } = await serve(true);
    await decide("bash", { command: "git push --force" });
    await decide("bash", { command: "make" });
    const events = [event("pre_action", { payload: { tool_name: "read", arguments: { path: "a" } } })];
    await ask("ahp/batch", { events });
    const other = policyOf("rules: [{ name: all, when: { tool: [bash, read] }, then: allow }]");
    const report = await backtest(other, entries());
    expect(report).toMatchObject({ decided: 3, withoutEvent: 0, cut: 0, same: 1, changed: 2 });
    expect(report.transitions).toEqual({ "block → allow": 2, "allow → allow": 1 });
    expect(report.changes[0]?.event).toMatchObject({
      session_id: "sess-abc",
      payload: { tool_name: "bash", arguments: { command: "git push --force" } },
    });
    expect(await backtest(policy, entries())).toMatchObject({ same: 3, changed: 0 });
    await server.close();
  });

  it("records without more where the details cannot be made, and says so", async () => {
    const sink = createMemoryAuditSink();
    const failing = {
      record: sink.record,
      eventDetails: () => {
        throw new TypeError("no details");
      },
    };
    const { server, ask, errors } = await startServer(
      { pre_action: () => ({ decision: "allow" }) },
      { audit: failing },
    );
    expect((await ask("ahp/event", event("pre_action"))).result).toEqual({ decision: "allow" });
    expect(sink.entries().at(-1)).toMatchObject({ action: "ahp.event", details: { decision: "allow" } });
    expect(errors).toMatchObject([{ message: "no details" }]);
    await server.close();
  });
});

describe("the content of events", () => {
  it("is kept without secrets, by their shape and by their name", () => {
    const { text = "", log } = recorded({
      command: `curl -H "Authorization: Bearer ${token}" x && deploy --key ${token}`,
      password: "hunter2",
      pin: 1234,
      is_secret: true,
      list: [token],
      credentials: { user: "me", code: "swordfish" },
    });
    for (const secret of [token, "hunter2", "1234", "swordfish"]) expect(log).not.toContain(secret);
    expect(JSON.parse(text).payload).toMatchObject({
      password: "[redacted]",
      pin: "[redacted]",
      is_secret: true,
    });
  });

  it("is bounded: long texts are cut, and what is still too long or too deep is left out", () => {
    const long = recorded({ tool_name: "write", arguments: { path: "a", content: "x".repeat(500_000) } });
    expect(long.isCut).toBe(true);
    expect(long.text?.length).toBeLessThan(4000);
    expect(JSON.parse(long.text ?? "").payload.arguments.path).toBe("a");
    expect(recorded(Array.from({ length: 20_000 }, (_, index) => `item ${index}`)).text).toBeUndefined();
    const deep = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
    expect(JSON.parse(recorded({ arguments: deep(64) }).text ?? "").payload).toEqual({ arguments: deep(64) });
    expect(recorded(deep(5000)).text).toBeUndefined();
  });

  it("can always be read again, and never holds the secret, whatever stands around it", () => {
    const around = fc.stringMatching(/^[a-z ="':{}\\\n,]{0,20}$/);
    const names = fc.constantFrom("password", "text", "Authorization", "token", "command");
    fc.assert(
      fc.property(fc.array(fc.tuple(names, around, around), { maxLength: 4 }), (parts) => {
        const payload = parts.map(([name, before, after]) => ({ [name]: before + token + after }));
        const { text, log } = recorded(payload);
        expect(log).not.toContain(token);
        expect(JSON.parse(text ?? "")).toMatchObject({ session_id: "s1" });
      }),
    );
  });
});
