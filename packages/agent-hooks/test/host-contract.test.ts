import { AhpEventSchema } from "@harnesskit/protocol/ahp";
import { isObject } from "@harnesskit/wire/json";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { answerHook, failClosed, HookError, type Host, hosts, readHook } from "../src/index.ts";
import { examplesOf, readExample } from "./support/examples.ts";

const decisions = [
  { decision: "allow" },
  { decision: "block", reason: "no" },
  { decision: "block", reason: "" },
  { decision: "modify", modified_payload: { arguments: {} } },
  { decision: "defer", retry_after_ms: 5000 },
  { decision: "escalate", reason: "ask" },
] as const;

const gatesOf = (host: Host) =>
  examplesOf(host)
    .map((example) => readExample(host, example))
    .filter(({ rule }) => rule?.blocks);

describe.each(hosts.map((host) => ({ id: host.id, host })))("$id", ({ host }) => {
  it.each(examplesOf(host))(
    "reads the example $name as the event and the action that it states",
    (example) => {
      const { event, action } = readExample(host, example);
      const found = { ahp: event?.event_type, tool: action?.tool, kind: action?.kind };
      expect(found).toEqual({ ahp: undefined, tool: undefined, kind: undefined, ...example.expect });
      if (!event) return;
      expect(AhpEventSchema.parse(event)).toEqual(event);
      expect(event.metadata).toMatchObject({ host: host.id });
    },
  );

  it("answers every example and decision with one JSON object or nothing, and exit code 0", () => {
    for (const example of examplesOf(host)) {
      for (const decision of decisions) {
        const answer = answerHook(readExample(host, example), decision);
        expect(answer.exitCode).toBe(0);
        if (answer.stdout !== "") expect(isObject(JSON.parse(answer.stdout))).toBe(true);
        if (answer.effect === "block") expect(answer.reason).toMatch(/\S/);
      }
    }
  });

  it("refuses at each gate for a block, a defer, an escalate and a decision that is not valid", () => {
    const gates = gatesOf(host);
    expect(gates.length).toBeGreaterThan(0);
    const refusing = [
      decisions[1],
      decisions[2],
      decisions[4],
      decisions[5],
      undefined,
      { decision: "maybe" },
    ];
    for (const call of gates) {
      const neutral = answerHook(call, { decision: "allow" });
      expect(neutral.effect).toBe("none");
      for (const decision of refusing) {
        const answer = answerHook(call, decision);
        expect(answer.effect).toBe("block");
        expect(answer.stdout).toContain(JSON.stringify(answer.reason));
        expect(answer.stdout).not.toBe(neutral.stdout);
      }
    }
  });

  it("answers events that it passes over as those that ask nothing", () => {
    for (const example of examplesOf(host).filter((one) => !one.expect.ahp)) {
      const answer = answerHook(readExample(host, example), { decision: "block", reason: "no" });
      expect(answer.effect).toBe("none");
      expect(answer.stdout).not.toContain("deny");
    }
  });

  it("fails closed with a reason that its model gets, bounded and safe to show", () => {
    const answer = failClosed(host, `\u202e${"x".repeat(5000)}`);
    const isExit = host.refusesBy === "exit";
    expect(answer).toMatchObject({ exitCode: isExit ? 2 : 0, effect: "block" });
    expect(isExit ? answer.stdout : answer.stderr).toBe("");
    expect(isExit || isObject(JSON.parse(answer.stdout))).toBe(true);
    const text = answer.stdout + answer.stderr;
    expect(text).toContain("⟨U+202E⟩");
    expect(text.length).toBeLessThan(2200);
    expect(failClosed(host, "").reason).toMatch(/\S/);
  });

  it("gives a valid answer or a typed error for any JSON", () => {
    const [example] = examplesOf(host);
    const field = fc.constantFrom(...new Set(examplesOf(host).flatMap(({ input }) => Object.keys(input))));
    const changed = fc
      .dictionary(field, fc.oneof(fc.jsonValue(), fc.constant(null)), { maxKeys: 4 })
      .map((fields) => JSON.stringify({ ...example?.input, ...fields }));
    const any = fc.oneof(fc.json(), fc.string(), changed);
    fc.assert(
      fc.property(any, fc.oneof(fc.jsonValue(), fc.constantFrom(...decisions)), (text, decision) => {
        try {
          const answer = answerHook(readHook(host, text), decision, { escalate: "ask" });
          if (answer.stdout !== "") expect(isObject(JSON.parse(answer.stdout))).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(HookError);
        }
      }),
      { numRuns: runs(60) },
    );
  });
});
