import { deviating, type Mutant, skip, skipOver, within, without } from "./mutant.ts";
import type { Answer, Request } from "./reference-harness.ts";
import type { ShellDeviation } from "./reference-shell.ts";

const sends = deviating<ShellDeviation, "send">("sends", "send");
const contexts = within(sends, (change: (context: Request) => Request) => (request) => ({
  ...request,
  request: { ...request.request, context: change(request.request.context) },
}));
const reads = deviating<ShellDeviation, "read">("reads", "read");
const refuses = within(
  reads,
  (isRefused: (answer: Answer) => unknown) => (answer) => (isRefused(answer) ? {} : answer),
);

export const shellMutants: readonly Mutant<ShellDeviation>[] = [
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
  skipOver("http", "credential", "OH-30"),
  skipOver("http", "documents", "OH-78"),
  skipOver("http", "status", "OH-78"),
  sends("no version", (request) => without(request, "protocol_version"), "OH-1", "OH-10", "OH-5"),
  sends("another version", (request) => ({ ...request, protocol_version: "0.9.0" }), "OH-5"),
  sends("no request_id", (request) => without(request, "request_id"), "OH-13"),
  sends("streaming", (request) => ({ ...request, capabilities: { "openharness.streaming": true } }), "OH-70"),
  contexts("no shell", (context) => without(context, "shell"), "OH-25"),
  contexts("no session", (context) => without(context, "session_id"), "OH-36"),
  contexts("no intent", (context) => without(context, "user_intent"), "OH-36"),
  contexts("its own without a prefix", (context) => ({ ...context, extensions: { framework: 1 } }), "OH-9"),
  contexts(
    "a state without a tier",
    (context) =>
      context.environment_state
        ? { ...context, environment_state: without(context.environment_state, "privacy_tier") }
        : context,
    "OH-34",
  ),
  contexts(
    "attachments as an object",
    (context) => (context.attachments ? { ...context, attachments: { ...context.attachments } } : context),
    "OH-40",
    "OH-43",
    "OH-84",
  ),
  contexts(
    "attachments without a reference",
    (context) =>
      context.attachments
        ? { ...context, attachments: context.attachments.map(() => ({ filename: "a.png" })) }
        : context,
    "OH-43",
  ),
  refuses("no unknown fields", (answer) => answer.color, "OH-8"),
  refuses(
    "no unknown capabilities",
    (answer) => answer.supported_capabilities?.["com.example.color"],
    "OH-21",
  ),
  refuses("no null", (answer) => answer.capability_denials === null, "OH-11"),
];
