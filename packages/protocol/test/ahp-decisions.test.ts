import { describe, expect, it } from "vitest";
import type * as z from "zod";
import * as ahp from "../src/ahp/decisions.ts";
import { ahpDocuments } from "./ahp-documents.ts";

const schemas = { ...ahp };
const accepts = (schema: z.ZodType, document: unknown) => schema.safeParse(document).success;

/** The decisions of each kind with the fields that they need. */
const decisions = {
  DecisionSchema: {
    allow: [],
    block: ["reason"],
    modify: ["modified_payload"],
    defer: ["retry_after_ms"],
    escalate: ["reason"],
  },
  IdleDecisionSchema: { allow: [], defer: [] },
  IntentDetectionDecisionSchema: { allow: ["detected_intent", "confidence"], block: ["reason"] },
  ContextPerceptionDecisionSchema: {
    allow: ["injected_context"],
    block: ["reason"],
    refine: ["scope_hints"],
  },
  MemoryRecallDecisionSchema: { allow: ["injected_facts"], block: ["reason"] },
  PlanningDecisionSchema: { allow: ["selected_strategy"], block: ["reason"], modify: ["modified_task"] },
  ReasoningDecisionSchema: { allow: [], block: ["reason"] },
  RateLimitDecisionSchema: { retry: ["retry_after_ms"], queue: [], skip: ["reason"] },
  ConfirmationDecisionSchema: { escalate: [], approve: [], reject: ["reason"] },
} as const;

describe("the decisions", () => {
  it.each([
    ["AHP-46", "DecisionSchema"],
    ["AHP-49", "IdleDecisionSchema"],
    ["AHP-50", "IntentDetectionDecisionSchema"],
    ["AHP-51", "ContextPerceptionDecisionSchema"],
    ["AHP-52", "MemoryRecallDecisionSchema"],
    ["AHP-53", "PlanningDecisionSchema"],
    ["AHP-54", "ReasoningDecisionSchema"],
    ["AHP-55", "RateLimitDecisionSchema"],
    ["AHP-56", "ConfirmationDecisionSchema"],
  ] as const)(
    "%s: %s is of these kinds, told by `decision`, each with what it needs",
    (_requirement, name) => {
      const schema: z.ZodType = schemas[name];
      const documents = (ahpDocuments[name] ?? []) as Record<string, unknown>[];
      expect([...new Set(documents.map(({ decision }) => decision))]).toEqual(Object.keys(decisions[name]));
      for (const document of documents) {
        expect(schema.parse(document)).toEqual(document);
        const needs = ["decision", ...(decisions[name][document.decision as never] as string[])];
        for (const key of Object.keys(document)) {
          const { [key]: _left, ...rest } = document;
          expect([document, key, accepts(schema, rest)]).toEqual([document, key, !needs.includes(key)]);
        }
      }
      const every = ["allow", "block", "modify", "defer", "escalate", "refine", "retry", "queue", "skip"];
      const fields = {
        reason: "",
        retry_after_ms: 1,
        scope_hints: [],
        modified_payload: 1,
        modified_task: "",
      };
      for (const decision of [...every, "approve", "reject", "Allow", "", null, 1]) {
        if (decision !== null && decision in decisions[name]) continue;
        expect([decision, accepts(schema, { ...fields, decision })]).toEqual([decision, false]);
      }
    },
  );

  it("keep no field that they do not know, and are refused for none", () => {
    const unknown = { severity: "high", modified_payload: { a: 1 } };
    expect(ahp.DecisionSchema.parse({ decision: "block", reason: "no", ...unknown })).toEqual({
      decision: "block",
      reason: "no",
    });
    expect(ahp.ConfirmationDecisionSchema.parse({ decision: "approve", ...unknown })).toEqual({
      decision: "approve",
    });
  });
});
