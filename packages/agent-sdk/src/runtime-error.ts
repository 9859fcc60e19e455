import type { RuntimeError } from "@harnesskit/protocol/runtime";
import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { defined } from "@harnesskit/wire/json";
import { ToolError } from "@harnesskit/wire/tool";
import { writeJson } from "./output.ts";
import type { Problem } from "./schema.ts";

const maxMessageLength = 4096;
const maxDetailsBytes = 16 * 1024;
const maxCodeLength = 128;
const where = "agent.runtime";

/** An error of the runtime itself. */
export const runtimeError = (
  code: RuntimeErrorCode,
  message: string,
  more: Pick<RuntimeError, "details" | "retryable"> = {},
): RuntimeError => ({ code, message, where, ...more });

/** Says where an input or output does not match, without the value. */
export const misfit = (
  code: typeof RuntimeErrorCode.InvalidInput | typeof RuntimeErrorCode.InvalidOutput,
  problems: readonly Problem[],
): RuntimeError => {
  const side = code === RuntimeErrorCode.InvalidInput ? "input" : "output";
  const places = problems.map(
    ({ path, problem, expected }) =>
      `${path === "" ? "/" : path}: ${problem}${expected === undefined ? "" : ` (${expected})`}`,
  );
  const message = `the ${side} does not match the tool's ${side} schema: ${places.join(", ")}`;
  return runtimeError(code, message.slice(0, maxMessageLength), {
    details: { problems: problems.map(defined) },
  });
};

const detailsOf = ({ details }: ToolError): RuntimeError["details"] => {
  if (details === undefined) return undefined;
  try {
    const { copy, bytes } = writeJson(details);
    return bytes <= maxDetailsBytes ? (copy as RuntimeError["details"]) : undefined;
  } catch {
    return undefined;
  }
};

const isCode = (code: unknown): code is string =>
  typeof code === "string" && code.length > 0 && code.length <= maxCodeLength;

/** The error of a call whose tool threw: a {@link ToolError} as it says, anything else in general words. */
export const thrownError = (thrown: unknown, redact: (text: string) => string): RuntimeError => {
  if (!ToolError.isInstance(thrown)) {
    return { code: RuntimeErrorCode.Failed, message: "the tool failed", where: "agent.tool" };
  }
  const own = detailsOf(thrown);
  return {
    code: isCode(thrown.code) ? thrown.code : RuntimeErrorCode.Failed,
    message: redact(String(thrown.message).slice(0, maxMessageLength)),
    where: "agent.tool",
    details: thrown.mayHaveRun ? { ...own, may_have_run: true } : own,
    retryable: thrown.retryable,
  };
};
