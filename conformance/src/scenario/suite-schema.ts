import * as z from "zod";
import { type Step, StepSchema, TransportSchema, verbOf } from "./step-schema.ts";

const FramingSchema = z.enum(["newline", "length-prefix", "post", "text"]);
export type Framing = z.infer<typeof FramingSchema>;

const ids = z.string();

const RoleSchema = z.strictObject({
  plays: z
    .enum(["server", "client"])
    .describe("server: the suite connects to the target; client: the suite starts it, and it connects"),
  transports: z.partialRecord(TransportSchema, FramingSchema),
  always: z
    .array(z.strictObject({ checks: ids, match: z.unknown(), only: z.array(TransportSchema).optional() }))
    .optional()
    .describe("What every message of the target matches"),
  noise: z
    .partialRecord(TransportSchema, ids)
    .optional()
    .describe("The ids that fail where the target sends what is not a message"),
  core: ids.optional().describe("The statements that an implementer cares about most: --level core"),
  unchecked: z
    .record(ids, z.string())
    .optional()
    .describe("Each MUST of the protocols that no check of this role cites, with the reason"),
  subject: z.string().optional().describe("The first words of a requirement that applies to this role only"),
  path: z.string().optional().describe("The path of the URL over HTTP and WebSocket"),
});
export type Role = z.infer<typeof RoleSchema>;

/** Steps whose verbs are known; `checkSteps` then says what is wrong inside of one. */
const LooseStepSchema = z.custom<Step>(
  (value) => typeof value === "object" && value !== null && verbOf(value) !== undefined,
  "has no verb that is known",
);

const suiteSchema = (step: z.ZodType<Step>) =>
  z.strictObject({
    format: z.literal(1),
    protocol: z.string(),
    version: z.string().describe("The version of the protocol that the requirements are of"),
    requirements: z.array(z.string()).min(1).describe("Names of requirement files that checks may cite"),
    roles: z.record(z.string(), RoleSchema),
    values: z.record(z.string(), z.unknown()).optional(),
    matchers: z.record(z.string(), z.unknown()).optional(),
    envelope: z.record(z.string(), z.unknown()).optional().describe("What each { $message: … } has"),
    fragments: z.record(z.string(), z.array(step)).optional().describe("Steps for use: NAME"),
  });

const scenarioSchema = (step: z.ZodType<Step>) =>
  z.strictObject({
    scenario: z.string().regex(/^[a-z][a-z0-9-]*$/),
    title: z.string(),
    only: z.array(TransportSchema).min(1).optional(),
    values: z.record(z.string(), z.unknown()).optional(),
    steps: z.array(step).min(1),
  });

/** `suite.yaml`: what the scenarios of one protocol share. */
export const SuiteSchema = suiteSchema(LooseStepSchema);
export type SuiteFile = z.infer<typeof SuiteSchema>;

/** A file of one scenario. */
export const ScenarioSchema = scenarioSchema(LooseStepSchema);
export type ScenarioFile = z.infer<typeof ScenarioSchema>;

/** The JSON Schema of a file: what editors complete and check. */
export const jsonSchemaOf = (kind: "suite" | "scenario"): object => {
  const schema = kind === "suite" ? suiteSchema(StepSchema) : scenarioSchema(StepSchema);
  return z.toJSONSchema(schema, { io: "input" });
};
