import * as z from "zod";
import { JsonObjectSchema } from "../envelope/json.ts";
import { tolerant } from "../null-as-absent.ts";
import { InputPartSchema } from "./thread.ts";

const said = {
  /** Who decided, such as the policy and its name. */
  by: z.string(),
  /** The rule that decided. */
  rule: z.string().optional(),
  reason: z.string().optional(),
};

const judgementOf = <Requested extends z.ZodType>(requested: Requested) =>
  tolerant(() => ({
    decision: z.enum(["allow", "ask", "block"]),
    ...said,
    /** What was asked for before it was changed; the item has what ran. */
    modified: tolerant(() => ({ ...said, by: said.by.optional(), requested })).optional(),
  }));

/** What a policy said of a tool call. */
export const ToolJudgementSchema = judgementOf(JsonObjectSchema);

/** What a policy said of a prompt. */
export const PromptJudgementSchema = judgementOf(z.array(InputPartSchema));
