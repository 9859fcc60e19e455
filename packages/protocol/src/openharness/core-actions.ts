import * as z from "zod";
import { type ActionType, defineActionType } from "./action-type.ts";
import { ShellCapability } from "./capabilities.ts";
import { ContinuationSchema } from "./context.ts";
import { OpenValueSchema, openShape } from "./open-object.ts";

/** What a shell shows in the place of a directive that it cannot carry out (section 11). */
const fallback = { fallback_message: z.string().optional() };

/** The specification leaves payloads open: some engines send a message as `message`, others as `text`. One of them is required. */
const messageShape = {
  message: z.string().optional(),
  text: z.string().optional(),
  ...fallback,
};

/** A schema that requires `message` or `text`. */
const withMessage = <Schema extends z.ZodType<{ message?: string | undefined; text?: string | undefined }>>(
  schema: Schema,
): Schema =>
  schema
    .refine(({ message, text }) => message !== undefined || text !== undefined, {
      path: ["message"],
      message: "expected a string in `message` or in `text`",
    })
    .meta({
      anyOf: ["message", "text"].map((name) => ({
        required: [name],
        properties: { [name]: { type: "string" } },
      })),
    });

/** `render_message`: text for the user. */
export const RenderMessagePayloadSchema = withMessage(
  openShape({
    ...messageShape,
    /** The format of the message: `markdown`. Anything else, and nothing, is plain text. */
    format: OpenValueSchema.optional(),
  }),
);

/** `render_ui`: a part of a user interface by its name, such as `text`, `table`, `chart` or `form`, and what it shows. */
export const RenderUiPayloadSchema = openShape({
  component: z.string().min(1),
  title: z.string().optional(),
  data: OpenValueSchema.optional(),
  ...fallback,
});

/** `simulate_action`: keys or gestures, as a user would make them. */
export const SimulateActionPayloadSchema = openShape({
  macro: z.string().optional(),
  target: z.string().optional(),
  ...fallback,
});

/** `request_approval`: a question to the user, and what the answer is sent with. */
export const RequestApprovalPayloadSchema = withMessage(
  openShape({
    ...messageShape,
    title: z.string().optional(),
    /** What would happen, for the user to judge. */
    subject: OpenValueSchema.optional(),
    continuation: ContinuationSchema.optional(),
  }),
);

/** `noop`: nothing. */
export const NoopPayloadSchema = openShape({});

/** The types of actions that the specification names (section 12). */
export const coreActionTypes: readonly ActionType[] = [
  defineActionType({ type: "render_message", payload: RenderMessagePayloadSchema, defaultRisk: "safe" }),
  defineActionType({
    type: "render_ui",
    payload: RenderUiPayloadSchema,
    defaultRisk: "safe",
    capability: ShellCapability.RichCards,
  }),
  defineActionType({
    type: "simulate_action",
    payload: SimulateActionPayloadSchema,
    defaultRisk: "dangerous",
  }),
  defineActionType({
    type: "request_approval",
    payload: RequestApprovalPayloadSchema,
    defaultRisk: "safe",
    capability: ShellCapability.Approval,
  }),
  defineActionType({ type: "noop", payload: NoopPayloadSchema, defaultRisk: "safe", needsPayload: false }),
];
