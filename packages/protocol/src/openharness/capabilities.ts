import * as z from "zod";
import { tolerant } from "../null-as-absent.ts";
import { openObject } from "./open-object.ts";

/** The features that the specification names (section 5.3). Implementations may define others. */
export const ShellCapability = {
  Streaming: "openharness.streaming",
  ParallelActions: "openharness.actions.parallel",
  AttachmentUpload: "openharness.attachments.upload",
  RichCards: "openharness.ui.rich_cards",
  Approval: "openharness.ui.approval",
} as const;

/** What a shell supports, or what an engine offers, by the name of the feature. Any key and any value. */
export const CapabilitiesSchema = openObject();
export type Capabilities = z.infer<typeof CapabilitiesSchema>;

/** A feature that a shell asked for and does not get. */
export const CapabilityDenialSchema = tolerant(() => ({
  capability: z.string().min(1),
  /** For programs: `not_supported`, `disabled_by_policy`, or one of the engine's own. */
  code: z.string().optional(),
  message: z.string().optional(),
}));
export type CapabilityDenial = z.infer<typeof CapabilityDenialSchema>;

/**
 * Whether a feature is among capabilities: its key is there, and its value is not false or null. What an object inherits
 * counts for nothing.
 */
export const hasCapability = (capabilities: Capabilities | undefined, name: string): boolean => {
  if (capabilities === undefined || !Object.hasOwn(capabilities, name)) return false;
  const value = capabilities[name];
  return value !== false && value !== null;
};
