import * as z from "zod";
import { object } from "../fields.ts";
import { IdSchema, WordsSchema } from "./values.ts";

/**
 * The type of the query (`ahp/query`) with which an agent waits for what a human tells it, over its connection; a hub lists it among its
 * capabilities, and holds the query until there is something, at most half a minute.
 */
export const controlQueryType = "harnesskit.control";

/** `stop`: end what the session's agent does now. `message`: a prompt, after what it does now. */
export const ControlActionSchema = z.enum(["stop", "message"]);

/** What a human tells an agent. */
const ControlCommandSchema = object(() => ({
  id: IdSchema,
  session: IdSchema,
  action: ControlActionSchema,
  /** Of a message. */
  text: WordsSchema.optional(),
}));
export type ControlCommand = z.infer<typeof ControlCommandSchema>;

/** What came of a command. `reason`: in words, such as that nothing runs. */
const ControlOutcomeSchema = object(() => ({
  id: IdSchema,
  outcome: z.enum(["done", "refused"]),
  reason: WordsSchema.optional(),
}));
export type ControlOutcome = z.infer<typeof ControlOutcomeSchema>;

/** The query's payload: what came of the commands before. */
export const ControlQuerySchema = object(() => ({ done: z.array(ControlOutcomeSchema).max(100) }));
/** The query's answer. */
export const ControlAnswerSchema = object(() => ({ commands: z.array(ControlCommandSchema) }));
