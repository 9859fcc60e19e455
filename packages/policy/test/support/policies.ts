import type { AhpEvent, AhpEventType } from "@harnesskit/protocol/ahp";
import { expect } from "vitest";
import { type ParsePolicyOptions, type Policy, PolicyError, parsePolicy } from "../../src/index.ts";

/** An event about a tool. */
export const toolEvent = (
  tool: string,
  args: Record<string, unknown> = {},
  more: Partial<AhpEvent> = {},
): AhpEvent =>
  ({
    event_type: "pre_action",
    session_id: "s1",
    agent_id: "a1",
    timestamp: "2026-05-01T00:00:00Z",
    depth: 0,
    payload: { tool_name: tool, arguments: args },
    ...more,
  }) as AhpEvent;

export const eventOf = (event_type: AhpEventType, payload: unknown, more: Partial<AhpEvent> = {}): AhpEvent =>
  toolEvent("", {}, { event_type, payload: payload as AhpEvent["payload"], ...more });

/** A policy of these rules, in YAML. */
export const policyOf = (rules: string, options?: ParsePolicyOptions): Policy =>
  parsePolicy(`version: 1\n${rules}`, options);

/** What a text is refused for. */
export const refusalOf = (text: string, options?: ParsePolicyOptions): PolicyError => {
  let thrown: unknown;
  try {
    parsePolicy(text, options);
  } catch (error) {
    thrown = error;
  }
  expect(PolicyError.isInstance(thrown), String(thrown)).toBe(true);
  return thrown as PolicyError;
};
