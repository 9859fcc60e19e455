import type * as z from "zod";
import type { RiskTier } from "./directive.ts";

/** What is known of one type of action. */
export interface ActionType {
  /** The core types' names are the specification's; any other one has a reverse-DNS or dotted prefix: `com.example.sop.start`. */
  readonly type: string;
  /** What `payload` has to be. */
  readonly payload: z.ZodType;
  /** How dangerous a directive of the type is that says nothing of it. */
  readonly defaultRisk: RiskTier;
  /** The feature that a shell has to have for it. @default none */
  readonly capability?: string;
  /** Whether a directive without a payload is wrong. @default true where the schema refuses an empty object */
  readonly needsPayload?: boolean;
}

/** Gives the type back with its defaults. */
export const defineActionType = (definition: ActionType): ActionType => {
  const { needsPayload = !definition.payload.safeParse({}).success } = definition;
  return Object.freeze({ ...definition, needsPayload });
};

/** Whether a name has the form of a type of one's own: labels of letters, digits, `_` and `-`, with dots between. */
export const isNamespacedType = (type: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9][A-Za-z0-9_-]*)+$/.test(type);
