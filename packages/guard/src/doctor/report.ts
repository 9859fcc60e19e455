import * as z from "zod";
import { probes } from "./probes.ts";

const EffectSchema = z.enum(["runs", "blocked", "unknown"]);

/** One way in which a hook can behave, and what the agent does with the tool. */
export const DoctorRowSchema = z.object({
  probe: z.enum(probes),
  /** What the vendor documents, with the settings that `guard init` writes. */
  documented: EffectSchema,
  /** What was seen in this run; absent where it was not run. */
  observed: EffectSchema.optional(),
  /** Why it is unknown. */
  note: z.string().optional(),
});
export type DoctorRow = z.infer<typeof DoctorRowSchema>;

/** What is known of one agent. */
export const DoctorAgentSchema = z.object({
  agent: z.string(),
  name: z.string(),
  /** The version of the program that was run. */
  version: z.string().optional(),
  isProved: z.boolean(),
  rows: z.array(DoctorRowSchema),
  /** In one line: what its hooks protect from. */
  protection: z.string(),
});
export type DoctorAgent = z.infer<typeof DoctorAgentSchema>;

export const DoctorReportSchema = z.object({
  version: z.literal(1),
  atMs: z.number(),
  agents: z.array(DoctorAgentSchema),
});
export type DoctorReport = z.infer<typeof DoctorReportSchema>;
