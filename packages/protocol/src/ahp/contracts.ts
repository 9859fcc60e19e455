import * as z from "zod";
import { IntegerSchema } from "../checked.ts";
import { JsonObjectSchema } from "../envelope/json.ts";
import { tolerant } from "../null-as-absent.ts";
import { Rfc3339Schema } from "../rfc3339.ts";

export const RunStatusSchema = z.enum([
  "created",
  "planning",
  "executing",
  "verifying",
  "completed",
  "failed",
  "cancelled",
]);
export type RunStatus = z.infer<typeof RunStatusSchema>;

export const TaskStatusSchema = z.enum([
  "pending",
  "in_progress",
  "completed",
  "failed",
  "skipped",
  "cancelled",
]);
export type TaskStatus = z.infer<typeof TaskStatusSchema>;

export const VerificationStatusSchema = z.enum([
  "pending",
  "running",
  "passed",
  "failed",
  "skipped",
  "needs_review",
]);
export type VerificationStatus = z.infer<typeof VerificationStatusSchema>;

/** A file or another thing that exists because of a run. */
export const ArtifactSchema = tolerant(() => ({
  id: z.string(),
  kind: z.string().optional(),
  uri: z.string().optional(),
  path: z.string().optional(),
  mime_type: z.string().optional(),
  sha256: z.string().optional(),
  size_bytes: IntegerSchema.optional(),
  summary: z.string().optional(),
}));

/** Why a status is believed. */
export const EvidenceSchema = tolerant(() => ({
  kind: z.string(),
  summary: z.string(),
  artifact: ArtifactSchema.optional(),
  metadata: JsonObjectSchema.optional(),
}));

/** `run_lifecycle`: where a run stands. */
export const RunLifecycleSchema = tolerant(() => ({
  run_id: z.string(),
  session_id: z.string(),
  status: RunStatusSchema,
  prompt: z.string().optional(),
  result_summary: z.string().optional(),
  error: z.string().optional(),
  started_at: Rfc3339Schema.optional(),
  updated_at: Rfc3339Schema,
  metadata: JsonObjectSchema.optional(),
}));
export type RunLifecycle = z.infer<typeof RunLifecycleSchema>;

export const TaskSchema = tolerant(() => ({
  id: z.string(),
  title: z.string(),
  status: TaskStatusSchema,
  depends_on: z.array(z.string()).optional(),
  evidence: z.array(EvidenceSchema).optional(),
  artifacts: z.array(ArtifactSchema).optional(),
  error: z.string().optional(),
  updated_at: Rfc3339Schema.optional(),
  metadata: JsonObjectSchema.optional(),
}));
export type Task = z.infer<typeof TaskSchema>;

/** `task_list`: all tasks of a run, in place of those reported before. */
export const TaskListSchema = tolerant(() => ({
  run_id: z.string(),
  session_id: z.string(),
  tasks: z.array(TaskSchema),
  updated_at: Rfc3339Schema,
  metadata: JsonObjectSchema.optional(),
}));
export type TaskList = z.infer<typeof TaskListSchema>;

export const VerificationCheckSchema = tolerant(() => ({
  id: z.string(),
  subject: z.string(),
  status: VerificationStatusSchema,
  command: z.string().optional(),
  message: z.string().optional(),
  evidence: z.array(EvidenceSchema).optional(),
  artifacts: z.array(ArtifactSchema).optional(),
  metadata: JsonObjectSchema.optional(),
}));
export type VerificationCheck = z.infer<typeof VerificationCheckSchema>;

/** `verification`: what was checked of a run, what came of it, and what remains doubtful. */
export const VerificationSchema = tolerant(() => ({
  run_id: z.string(),
  session_id: z.string(),
  status: VerificationStatusSchema,
  checks: z.array(VerificationCheckSchema).optional(),
  artifacts: z.array(ArtifactSchema).optional(),
  residual_risks: z.array(z.string()).optional(),
  updated_at: Rfc3339Schema,
  metadata: JsonObjectSchema.optional(),
}));
export type Verification = z.infer<typeof VerificationSchema>;
