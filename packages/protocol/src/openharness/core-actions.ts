import * as z from "zod";
import { ShellCapability } from "./capabilities.ts";
import { ContinuationSchema } from "./context.ts";
import type { RiskTier } from "./directive.ts";
import { OpenValueSchema, openShape } from "./open-object.ts";

/** What is known of one type of action. */
export interface ActionType {
  /** Any name; a core type's replaces that type. A reverse-DNS or dotted prefix avoids collisions: `com.example.sop.start` (section 12). */
  readonly type: string;
  /** What `payload` has to be. */
  readonly payload: z.ZodType;
  /** How dangerous a directive of the type is that says nothing of it. */
  readonly defaultRisk: RiskTier;
  /** The feature that a shell has to have for it. @default none */
  readonly capability?: string | undefined;
  /** Whether a directive without a payload is wrong. @default true where the schema refuses an empty object */
  readonly needsPayload?: boolean;
}

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
  openShape(() => ({
    ...messageShape,
    /** The format of the message: `markdown`. Anything else, and nothing, is plain text. */
    format: OpenValueSchema.optional(),
  })),
);

/** `render_ui`: a part of a user interface by its name, such as `text`, `table`, `chart` or `form`, and what it shows. */
export const RenderUiPayloadSchema = openShape(() => ({
  component: z.string().min(1),
  title: z.string().optional(),
  data: OpenValueSchema.optional(),
  ...fallback,
}));

/** `simulate_action`: keys or gestures, as a user would make them. */
export const SimulateActionPayloadSchema = openShape(() => ({
  macro: z.string().optional(),
  target: z.string().optional(),
  ...fallback,
}));

/** `request_approval`: a question to the user, and what the answer is sent with. */
export const RequestApprovalPayloadSchema = withMessage(
  openShape(() => ({
    ...messageShape,
    title: z.string().optional(),
    /** What would happen, for the user to judge. */
    subject: OpenValueSchema.optional(),
    continuation: ContinuationSchema.optional(),
  })),
);

/** `noop`: nothing. */
export const NoopPayloadSchema = openShape(() => ({}));

/** The types of actions that the specification names (section 12). */
export const coreActionTypes: readonly ActionType[] = [
  { type: "render_message", payload: RenderMessagePayloadSchema, defaultRisk: "safe" },
  {
    type: "render_ui",
    payload: RenderUiPayloadSchema,
    defaultRisk: "safe",
    capability: ShellCapability.RichCards,
  },
  { type: "simulate_action", payload: SimulateActionPayloadSchema, defaultRisk: "dangerous" },
  {
    type: "request_approval",
    payload: RequestApprovalPayloadSchema,
    defaultRisk: "safe",
    capability: ShellCapability.Approval,
  },
  { type: "noop", payload: NoopPayloadSchema, defaultRisk: "safe" },
];
