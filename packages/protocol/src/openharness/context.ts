import * as z from "zod";
import { WholeSchema } from "../checked.ts";
import { tolerant } from "../null-as-absent.ts";
import { openObject, openShape } from "./open-object.ts";

/** Fields of vendors. Keys are reverse-DNS names or URIs, so that two vendors do not meet (section 4). */
export const ExtensionsSchema = openObject();
export type Extensions = z.infer<typeof ExtensionsSchema>;

/** What a shell is (section 6). */
export const ShellIdentitySchema = tolerant(() => ({
  /** `im_bot`, `command_shell`, `tv`, `vehicle_hmi`, …, or a name of one's own as `com.example.kiosk`. */
  shell_kind: z.string().min(1).optional(),
  shell_version: z.string().optional(),
  /** A language tag of BCP 47. */
  locale: z.string().optional(),
  /** A name of the IANA's time zones. */
  timezone: z.string().optional(),
}));
export type ShellIdentity = z.infer<typeof ShellIdentitySchema>;

/** Where a request wants to go. Other keys than these are the deployment's. */
export const TaskHintSchema = openShape(() => ({
  sop_id: z.string().optional(),
  plugin_id: z.string().optional(),
  business_key: z.string().optional(),
}));
export type TaskHint = z.infer<typeof TaskHintSchema>;

/** What resumes a run (section 9.2). An engine made it, and only that engine reads it. */
export const ContinuationSchema = tolerant(() => ({
  run_id: z.string().optional(),
  sop_id: z.string().optional(),
  continuation_token: z.string().optional(),
}));
export type Continuation = z.infer<typeof ContinuationSchema>;

/** How far a state may travel (section 8). */
export const PrivacyTierSchema = z.enum(["public", "restricted", "secret"]);
export type PrivacyTier = z.infer<typeof PrivacyTierSchema>;

/** What a shell tells of its surroundings. Other keys than these are the shell's. */
const EnvironmentStateSchema = openShape(() => ({
  privacy_tier: PrivacyTierSchema.optional(),
  os: z.string().optional(),
  active_window: z.string().optional(),
  screen_hash: z.string().optional(),
}));
export type EnvironmentState = z.infer<typeof EnvironmentStateSchema>;

/** Where a file, an image or a card is; never its bytes (section 9.1). Other keys than these are the deployment's. */
export const AttachmentRefSchema = openShape(() => ({
  ref_id: z.string().optional(),
  uri: z.string().optional(),
  asset_id: z.string().optional(),
  mime_type: z.string().optional(),
  filename: z.string().optional(),
  size_bytes: WholeSchema.optional(),
}));
export type AttachmentRef = z.infer<typeof AttachmentRefSchema>;

/** What the user wants, in which conversation, and where (section 9). */
export const ShellContextSchema = tolerant(() => ({
  session_id: z.string().optional(),
  conversation_id: z.string().optional(),
  user_intent: z.string().optional(),
  task_hint: TaskHintSchema.optional(),
  continuation: ContinuationSchema.optional(),
  environment_state: EnvironmentStateSchema.optional(),
  attachments: z.array(AttachmentRefSchema).optional(),
  shell: ShellIdentitySchema.optional(),
  extensions: ExtensionsSchema.optional(),
}));
export type ShellContext = z.infer<typeof ShellContextSchema>;
