import { AhpEventTypeSchema } from "@harnesskit/protocol/ahp";
import * as z from "zod";
import { actionKinds } from "../cel/actions.ts";

const oneOrMore = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1).max(1000)]);

const name = z.string().min(1).max(100);
const NameSchema = name.regex(/^[\w][\w .:/-]*$/, "a name has letters, digits, _ . : / - and spaces");

/** Whether decisions are made, or only reported. */
export type PolicyMode = "enforce" | "shadow";
const PolicyModeSchema = z.enum(["enforce", "shadow"] satisfies PolicyMode[]);

const glob = z.string().min(1).max(500);
const globs = (what: string) =>
  oneOrMore(glob).describe(`Globs of ${what}; @name stands for a named list, and !glob excludes.`).optional();

export const WhenSchema = z
  .strictObject({
    event: oneOrMore(AhpEventTypeSchema)
      .describe(
        "Types of events. Without it: pre_action, and pre_prompt where no tool and no action is named.",
      )
      .optional(),
    action: oneOrMore(z.enum(actionKinds))
      .describe(
        "What the tool does, whatever it is called: run a command, write or edit a file, read, search, fetch from the network, call a tool of an MCP server, keep the agent's own notes and plans (bookkeeping), or other.",
      )
      .optional(),
    tool: globs("the tool's name"),
    session: globs("the session's id"),
    agent: globs("the agent's id"),
    cel: oneOrMore(z.string().min(1)).describe("Conditions in CEL, all of which must be true.").optional(),
  })
  .describe("All of these must hold.");
export type When = z.infer<typeof WhenSchema>;

/** Every word that is a decision of some event. */
export const decisionWords = [
  "allow",
  "block",
  "modify",
  "defer",
  "escalate",
  "refine",
  "retry",
  "queue",
  "skip",
  "approve",
  "reject",
] as const;
const DecisionWordSchema = z.enum(decisionWords);

const text = z.string().max(4000);
const template = text.describe(`A string; \${…} holds CEL.`);
const json = z
  .json()
  .describe(
    `Any value; \${…} in its strings holds CEL. A string that is a single \${…} becomes the value itself.`,
  );

const DecisionSchema = z.strictObject({
  decision: DecisionWordSchema,
  reason: template.optional(),
  metadata: z.record(z.string(), json).optional(),
  escalation_target: template.optional(),
  retry_after_ms: z.int().nonnegative().optional(),
  modified_payload: json.optional(),
  skipHostPrompt: z
    .literal(true)
    .describe(
      "With allow of pre_action: a coding agent of another vendor runs the call without asking its own user. Without it, that agent's own rules and prompts hold.",
    )
    .optional(),
  set: z
    .record(z.string(), json)
    .describe("With modify: values of the payload to replace, by their place, such as `arguments.command`.")
    .optional(),
  detected_intent: template.optional(),
  confidence: z.number().optional(),
  target_hints: json.optional(),
  injected_context: json.optional(),
  injected_facts: json.optional(),
  refined_intent: json.optional(),
  refined_target: json.optional(),
  scope_hints: json.optional(),
  selected_strategy: json.optional(),
  planning_template: json.optional(),
  modified_task: template.optional(),
  hints: json.optional(),
});
export type ThenObject = z.infer<typeof DecisionSchema>;

export const ThenSchema = z
  .union([DecisionWordSchema, DecisionSchema])
  .describe("A decision of the events' type, or just its word.");
export type Then = z.infer<typeof ThenSchema>;

/** A key of the file, kept out of literals: an object with a `then` may be taken for a promise. */
const decisionKey = "then";

export const RuleSchema = z.strictObject({
  name: NameSchema.describe("The name in decisions and tests; unique in the file."),
  description: text.optional(),
  mode: PolicyModeSchema.describe(
    "shadow: what the rule would decide is reported, and the next rules are asked.",
  ).optional(),
  when: WhenSchema.optional(),
  [decisionKey]: ThenSchema,
});
export type RuleSource = z.infer<typeof RuleSchema>;

const dayMs = 86_400_000;

export const LimitSchema = z.strictObject({
  name: NameSchema,
  description: text.optional(),
  mode: PolicyModeSchema.optional(),
  when: WhenSchema.optional(),
  per: oneOrMore(z.enum(["session", "agent", "tool"]))
    .describe("What is counted separately. Without it: all together.")
    .optional(),
  rate: z
    .strictObject({
      max: z.int().positive().max(10_000),
      window_ms: z.int().positive().max(dayMs),
    })
    .describe("The number of events in any span of that time.")
    .optional(),
  concurrent: z
    .strictObject({
      max: z.int().positive().max(10_000),
      expire_ms: z
        .int()
        .positive()
        .max(dayMs)
        .describe("After this time an action counts as ended without a post_action. 600000 by default.")
        .optional(),
    })
    .describe("The number of actions between their pre_action and their post_action.")
    .optional(),
  [decisionKey]: ThenSchema.describe("Without it: defer, until the limit has room.").optional(),
});
export type LimitSource = z.infer<typeof LimitSchema>;

const eventDefaults = Object.fromEntries(
  AhpEventTypeSchema.options.map((type) => [type, ThenSchema.optional()]),
) as Record<z.infer<typeof AhpEventTypeSchema>, z.ZodOptional<typeof ThenSchema>>;

export const DefaultsSchema = z
  .strictObject({
    gate: ThenSchema.describe("pre_action and pre_prompt. Without it: block.").optional(),
    notification: ThenSchema.describe("Events that need no decision. Without it: allow.").optional(),
    ...eventDefaults,
  })
  .describe("The decision where no rule applies, by class or type of event; a type goes before its class.");
export type Defaults = z.infer<typeof DefaultsSchema>;

/** A policy file. */
export const PolicyFileSchema = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  name: NameSchema.optional(),
  description: text.optional(),
  mode: PolicyModeSchema.describe(
    "shadow: everything is allowed, and what would have been decided is reported.",
  ).optional(),
  workspace: z.string().describe("The workspace of events that name none in metadata.workspace.").optional(),
  lists: z
    .record(z.string(), z.array(z.string().max(1000)).max(10_000))
    .describe("Named lists: @name in globs, lists.name in CEL.")
    .optional(),
  defaults: DefaultsSchema.optional(),
  limits: z.array(LimitSchema).optional(),
  rules: z.array(RuleSchema),
});
export type PolicyFile = z.infer<typeof PolicyFileSchema>;

/** The JSON Schema of policy files, for editors: `# yaml-language-server: $schema=…`. */
export const policyJsonSchema = (): Record<string, unknown> => ({
  $id: "https://harnesskit.dev/schema/policy.json",
  title: "A policy of an AHP harness",
  ...z.toJSONSchema(PolicyFileSchema, { target: "draft-2020-12", io: "input" }),
});
