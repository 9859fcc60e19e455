import { RunLifecycleSchema, TaskListSchema, VerificationSchema } from "@harnesskit/protocol/ahp";
import { JsonValueSchema } from "@harnesskit/protocol/envelope";
import * as z from "zod";

const sender = {
  /** Tells the senders of runs with the same id apart. */
  owner: z.string(),
  /** Whom the events came from, as the transport said. */
  principal: JsonValueSchema.optional(),
  agent_id: z.string(),
};

const event = <Type extends string, Payload extends z.ZodType>(type: Type, payload: Payload) =>
  z.object({ kind: z.literal(type), ...sender, payload });

const StateRecordSchema = z.discriminatedUnion("kind", [
  event("run_lifecycle", RunLifecycleSchema),
  event("task_list", TaskListSchema),
  event("verification", VerificationSchema),
  z.object({
    kind: z.literal("run"),
    ...sender,
    run_id: z.string(),
    session_id: z.string(),
    lifecycle: RunLifecycleSchema.optional(),
    task_list: TaskListSchema.optional(),
    verifications: z.array(VerificationSchema),
  }),
]);

/**
 * One step of the state: a durable contract as it was accepted, or a run with all that was known of it, which replaces
 * what came before. JSON.
 */
export type StateRecord = z.infer<typeof StateRecordSchema>;

/** A durable contract as it was accepted. */
export type ContractRecord = Exclude<StateRecord, { kind: "run" }>;
/** A run as a whole. */
export type RunRecord = Extract<StateRecord, { kind: "run" }>;

/** The record that a value is; undefined for anything else. Unknown fields are dropped. */
export const parseStateRecord = (value: unknown): StateRecord | undefined => {
  const parsed = StateRecordSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
};
