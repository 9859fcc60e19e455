import { deviating, type Mutant, serve, skip, within, without } from "./mutant.ts";
import type { EngineDeviation } from "./reference-engine.ts";
import type { Answer, Request } from "./reference-harness.ts";

const answers = deviating<EngineDeviation, "answer">("answers", "answer");
const errors = within(
  answers,
  (change: (error: Answer) => unknown) => (answer) =>
    answer.response.error === undefined
      ? answer
      : { ...answer, response: { ...answer.response, error: change(answer.response.error) } },
);
const reads = deviating<EngineDeviation, "read">("reads", "read");
const refuses = within(
  reads,
  (isRefused: (request: Request) => unknown) => (request) =>
    isRefused(request) ? { ...request, request: 7 } : request,
);
const contextOf = (request: Request): Request => request?.request?.context ?? {};
/** Unknown keys anywhere below. */
const isStrange = (value: unknown): boolean =>
  typeof value === "object" && value !== null
    ? "color" in value || Object.values(value).some(isStrange)
    : false;

export const engineMutants: readonly Mutant<EngineDeviation>[] = [
  skip("major", "OH-3"),
  skip("shape", "OH-1", "OH-10", "OH-40"),
  skip("inline", "OH-41"),
  skip("safe-shape", "OH-63", "OH-66", "OH-28"),
  skip("safe-crash", "OH-63", "OH-28"),
  skip("safe-fail", "OH-28", "OH-63"),
  skip("log-secret-auth", "OH-28"),
  skip("log-secret", "OH-31"),
  skip("log-restricted", "OH-33"),
  skip("log-intent", "OH-77"),
  skip("opaque-auth", "OH-29", "OH-28"),
  skip("shell-identity", "OH-26"),
  skip("vendor-keys", "OH-74"),
  skip("plugin-hint", "OH-39"),
  skip("sops", "OH-39"),
  skip("unknown-sop", "OH-39"),
  skip("threads", "OH-37"),
  skip("order", "OH-52"),
  skip("parallel", "OH-52"),
  skip("approval-everywhere", "OH-71"),
  skip("any-name", "OH-60"),
  skip("downgrade", "OH-58"),
  skip("both-texts", "OH-72"),
  skip("directive-shape", "OH-47"),
  skip("once-handled", "OH-16", "OH-17"),
  skip("id-conflict", "OH-17"),
  skip("ids-of-session", "OH-16"),
  skip("resumes", "OH-44"),
  skip("once", "OH-45"),
  skip("run-session", "OH-45"),
  skip("run-id", "OH-45"),
  skip("token-only", "OH-46"),
  skip("own-continuation", "OH-75"),
  skip("own-keys", "OH-9"),
  skip("new-session", "OH-38"),
  skip("leads-back", "OH-38"),
  answers("no request_id", (answer) => without(answer, "request_id"), "OH-14"),
  answers("another request_id", (answer) => ({ ...answer, request_id: "other" }), "OH-14", "OH-76"),
  answers("no correlation_id", (answer) => without(answer, "correlation_id"), "OH-15"),
  answers("no version", (answer) => without(answer, "protocol_version"), "OH-18"),
  answers("no versions", (answer) => without(answer, "supported_protocol_versions"), "OH-4"),
  answers("no capabilities", (answer) => without(answer, "supported_capabilities"), "OH-19"),
  answers("no denials", (answer) => without(answer, "capability_denials"), "OH-22", "OH-23", "OH-69"),
  answers(
    "denials of unknown features",
    (answer, request) => ({
      ...answer,
      capability_denials: Object.keys(request?.capabilities ?? {}).map((capability) => ({
        capability,
        code: "not_supported",
      })),
    }),
    "OH-20",
  ),
  answers(
    "denials without a code",
    (answer) => ({
      ...answer,
      capability_denials: answer.capability_denials?.map((denial: Answer) => without(denial, "code")),
    }),
    "OH-23",
  ),
  answers(
    "no latency",
    (answer) => ({ ...answer, response: without(answer.response, "engine_latency_ms") }),
    "OH-68",
  ),
  errors("errors without a code", (error) => without(error, "code"), "OH-62"),
  errors("errors that do not say retryable", (error) => without(error, "retryable"), "OH-65"),
  errors(
    "errors with a stack",
    (error) => ({ ...error, message: "Error: x\n    at handle (/srv/engine.js:10:3)" }),
    "OH-63",
  ),
  answers(
    "errors as success",
    (answer) => ({ ...answer, response: { ...answer.response, status: "success" } }),
    "OH-61",
    "OH-1",
    "OH-3",
    "OH-41",
    "OH-45",
  ),
  answers(
    "success without directives as an error",
    (answer) =>
      (answer.response.action_directives ?? [0]).length === 0
        ? { ...answer, response: { status: "error", error: { code: "empty", retryable: false } } }
        : answer,
    "OH-67",
  ),
  refuses("no minor versions", (request) => request?.protocol_version === "1.9.3", "OH-2"),
  refuses("no unknown fields", isStrange, "OH-7"),
  refuses("no null", (request) => request?.request?.context === null, "OH-10"),
  refuses("no request without auth", (request) => request?.request?.auth === undefined, "OH-27"),
  refuses(
    "no attachments with unknown fields",
    (request) => contextOf(request).attachments?.some?.((each: Answer) => each?.description),
    "OH-84",
  ),
  serve("logs", "unix", "OH-61"),
  serve("silent-garbage", "unix", "OH-61"),
  serve("silent-garbage", "http", "OH-61"),
  serve("forgets-pieces", "unix", "OH-14"),
  serve("one-a-chunk", "unix", "OH-76"),
  serve("any-type", "http", "OH-61"),
  serve("any-method", "http", "OH-61"),
  serve("anyone", "http", "OH-29"),
  serve("text", "http", "OH-18"),
];
