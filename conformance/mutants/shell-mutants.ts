import type { TransportName } from "../src/scenario/step-schema.ts";
import type { Answer, Request } from "./reference-harness.ts";
import type { ShellDeviation } from "./reference-shell.ts";

/** A shell with one deviation, and the requirements of which at least each has a check that notices it. */
export interface ShellMutant extends ShellDeviation {
  readonly name: string;
  readonly kills: readonly string[];
  readonly transport?: Exclude<TransportName, "stdio">;
}

const skip = (rule: string, ...kills: string[]): ShellMutant => ({
  name: `without ${rule}`,
  kills,
  skip: rule,
});
const overHttp = (rule: string, ...kills: string[]): ShellMutant => ({
  name: `without ${rule} over http`,
  kills,
  skip: rule,
  transport: "http",
});
const sends = (name: string, send: (request: Request) => Request, ...kills: string[]): ShellMutant => ({
  name: `sends ${name}`,
  kills,
  send,
});
const reads = (name: string, read: (answer: Answer) => Answer, ...kills: string[]): ShellMutant => ({
  name: `reads ${name}`,
  kills,
  read,
});

const without = (value: Request, name: string) =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([key]) => key !== name));
const withContext = (change: (context: Request) => Request) => (request: Request) => ({
  ...request,
  request: { ...request.request, context: change(request.request.context) },
});
const refusedIf = (isRefused: (answer: Answer) => unknown) => (answer: Answer) =>
  isRefused(answer) ? {} : answer;

export const shellMutants: readonly ShellMutant[] = [
  skip("major", "OH-6"),
  skip("shape", "OH-11", "OH-47"),
  skip("unknown", "OH-53", "OH-56"),
  skip("unknown-text", "OH-54"),
  skip("report", "OH-55"),
  skip("any-name", "OH-60"),
  skip("payload", "OH-73"),
  skip("payload-text", "OH-73"),
  skip("approval", "OH-48"),
  skip("refusal", "OH-48"),
  skip("silence", "OH-48"),
  skip("risk", "OH-51"),
  skip("text", "OH-72"),
  skip("message", "OH-72"),
  skip("deadline", "OH-50"),
  skip("order", "OH-49"),
  skip("sequence", "OH-49"),
  skip("denials-first", "OH-24"),
  skip("inline", "OH-42"),
  skip("retry", "OH-64"),
  skip("same-id", "OH-64", "OH-13"),
  skip("error-code", "OH-64"),
  skip("hashed", "OH-35"),
  skip("ids", "OH-76"),
  skip("pieces", "OH-76"),
  skip("logs", "OH-1"),
  overHttp("credential", "OH-30"),
  overHttp("documents", "OH-78"),
  overHttp("status", "OH-78"),
  sends("no version", (request) => without(request, "protocol_version"), "OH-1", "OH-10", "OH-5"),
  sends("another version", (request) => ({ ...request, protocol_version: "0.9.0" }), "OH-5"),
  sends("no request_id", (request) => without(request, "request_id"), "OH-13"),
  sends("streaming", (request) => ({ ...request, capabilities: { "openharness.streaming": true } }), "OH-70"),
  sends(
    "no shell",
    withContext((context) => without(context, "shell")),
    "OH-25",
  ),
  sends(
    "no session",
    withContext((context) => without(context, "session_id")),
    "OH-36",
  ),
  sends(
    "no intent",
    withContext((context) => without(context, "user_intent")),
    "OH-36",
  ),
  sends(
    "its own without a prefix",
    withContext((context) => ({ ...context, extensions: { framework: 1 } })),
    "OH-9",
  ),
  sends(
    "a state without a tier",
    withContext((context) =>
      context.environment_state
        ? { ...context, environment_state: without(context.environment_state, "privacy_tier") }
        : context,
    ),
    "OH-34",
  ),
  sends(
    "attachments as an object",
    withContext((context) =>
      context.attachments ? { ...context, attachments: { ...context.attachments } } : context,
    ),
    "OH-40",
    "OH-43",
    "OH-84",
  ),
  sends(
    "attachments without a reference",
    withContext((context) =>
      context.attachments
        ? { ...context, attachments: context.attachments.map(() => ({ filename: "a.png" })) }
        : context,
    ),
    "OH-43",
  ),
  reads(
    "no unknown fields",
    refusedIf((answer) => answer.color),
    "OH-8",
  ),
  reads(
    "no unknown capabilities",
    refusedIf((answer) => answer.supported_capabilities?.["com.example.color"]),
    "OH-21",
  ),
  reads(
    "no null",
    refusedIf((answer) => answer.capability_denials === null),
    "OH-11",
  ),
];
