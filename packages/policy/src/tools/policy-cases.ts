import { type AhpEvent, AhpEventTypeSchema } from "@harnesskit/protocol/ahp";
import { defined } from "@harnesskit/wire/json";
import * as z from "zod";
import { decisionWords } from "../file/policy-schema.ts";
import { PolicySource } from "../file/policy-source.ts";
import { type PolicyLimits, policyLimits } from "../policy-limits.ts";

const ExpectedSchema = z.union([
  z.enum(decisionWords),
  z.strictObject({
    decision: z.enum(decisionWords).optional(),
    rule: z.string().nullable().describe("The rule or limit that decides; null: the default.").optional(),
    reason: z.string().describe("What the reason contains.").optional(),
    modified_payload: z.json().optional(),
  }),
]);

/** One event and the decision that is expected. */
export const PolicyCaseSchema = z.strictObject({
  name: z.string().min(1).max(500),
  event: AhpEventTypeSchema.default("pre_action"),
  tool: z.string().describe("Short for payload.tool_name.").optional(),
  args: z.record(z.string(), z.json()).describe("Short for payload.arguments.").optional(),
  payload: z.json().optional(),
  metadata: z.record(z.string(), z.json()).optional(),
  session_id: z.string().default("session"),
  agent_id: z.string().default("agent"),
  depth: z.int().nonnegative().default(0),
  repeat: z
    .int()
    .positive()
    .max(10_000)
    .describe("How often the event comes at one time; the last decision counts.")
    .default(1),
  expect: ExpectedSchema,
});

/** The cases of a policy: events and the decisions that are expected. */
const PolicyCasesSchema = z.strictObject({
  $schema: z.string().optional(),
  cases: z.array(PolicyCaseSchema).max(10_000),
});
export type PolicyCase = z.infer<typeof PolicyCaseSchema>;

export interface ParseCasesOptions {
  /** What errors call the file. @default "policy.test.yaml" */
  readonly file?: string | undefined;
  /** As for a policy's file. @default those of a policy */
  readonly limits?: Partial<PolicyLimits> | undefined;
}

/** Reads cases from YAML. Throws `PolicyError` with the place of each problem. */
export const parsePolicyCases = (text: string, options: ParseCasesOptions = {}): readonly PolicyCase[] => {
  const { file = "policy.test.yaml", limits } = options;
  return new PolicySource(text, file, policyLimits.resolve(limits)).parse(PolicyCasesSchema).cases;
};

/** The event of a case. */
export const eventOfCase = (one: PolicyCase): AhpEvent => {
  const { tool, args, metadata } = one;
  const short = defined({ tool_name: tool, arguments: args });
  const isObject = typeof one.payload === "object" && one.payload !== null && !Array.isArray(one.payload);
  return {
    event_type: one.event,
    session_id: one.session_id,
    agent_id: one.agent_id,
    timestamp: "2000-01-01T00:00:00Z",
    depth: one.depth,
    payload: one.payload !== undefined && !isObject ? one.payload : { ...(one.payload as object), ...short },
    metadata,
  };
};
