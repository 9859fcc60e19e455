import type * as z from "zod";
import type { RiskTier } from "./directive.ts";

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

/** Gives the type back with its defaults. */
export const defineActionType = (definition: ActionType): ActionType => {
  const { needsPayload = !definition.payload.safeParse({}).success } = definition;
  return Object.freeze({ ...definition, needsPayload });
};
