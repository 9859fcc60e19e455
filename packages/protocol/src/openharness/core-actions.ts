import * as z from "zod";
import { type ActionType, defineActionType } from "./action-type.ts";
import { ShellCapability } from "./capabilities.ts";
import { ContinuationSchema } from "./context.ts";
import { OpenValueSchema, openShape } from "./open-object.ts";

/** What a shell shows in the place of a directive that it cannot carry out (section 11). */
const fallback = { fallback_message: z.string().optional() };

/** `render_message`: text for the user. */
export const RenderMessagePayloadSchema = openShape({
  message: z.string(),
  /** How the text is written. Plain where nothing is said. */
  format: z.enum(["plain", "markdown"]).optional(),
  ...fallback,
});
export type RenderMessagePayload = z.infer<typeof RenderMessagePayloadSchema>;

/** `render_ui`: a part of a user interface by its name, such as `text`, `table`, `chart` or `form`, and what it shows. */
export const RenderUiPayloadSchema = openShape({
  component: z.string().min(1),
  title: z.string().optional(),
  data: OpenValueSchema.optional(),
  ...fallback,
});
export type RenderUiPayload = z.infer<typeof RenderUiPayloadSchema>;

/** `simulate_action`: keys or gestures, as a user would make them. */
export const SimulateActionPayloadSchema = openShape({
  macro: z.string().optional(),
  target: z.string().optional(),
  ...fallback,
});
export type SimulateActionPayload = z.infer<typeof SimulateActionPayloadSchema>;

/** `request_approval`: a question to the user, and what the answer is sent with. */
export const RequestApprovalPayloadSchema = openShape({
  message: z.string(),
  title: z.string().optional(),
  /** What would happen, for the user to judge. */
  subject: OpenValueSchema.optional(),
  continuation: ContinuationSchema.optional(),
  ...fallback,
});
export type RequestApprovalPayload = z.infer<typeof RequestApprovalPayloadSchema>;

/** `noop`: nothing. */
export const NoopPayloadSchema = openShape({});
export type NoopPayload = z.infer<typeof NoopPayloadSchema>;

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
