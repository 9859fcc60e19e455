import type { AcpCall } from "@harnesskit/agent-hooks/acp";
import type { JsonObject } from "@harnesskit/protocol/envelope";

const isFilledString = (value: unknown): value is string => typeof value === "string" && value !== "";

const hasOnly = (args: JsonObject, names: readonly string[]): boolean =>
  Object.keys(args).every((name) => names.includes(name));

/**
 * The parameters of a request with the arguments that the harness wants; a string with the reason where they cannot be applied whole. A changed
 * command is run by `sh`, in the place of the program, its arguments and its variables.
 */
export const withArguments = (call: AcpCall, args: JsonObject): JsonObject | string => {
  const { method, params, action } = call;
  if (method === "fs/write_text_file") {
    const { path, content } = args;
    if (!hasOnly(args, ["path", "content"]) || !isFilledString(path) || typeof content !== "string") {
      return "of a file only path and content can be changed";
    }
    return { ...params, path, content };
  }
  if (method !== "terminal/create" || action?.kind !== "run") {
    return "the arguments of this request cannot be changed";
  }
  const before = action.arguments as JsonObject;
  const { command, cwd = before.cwd } = args;
  if (
    !hasOnly(args, ["command", "cwd"]) ||
    !isFilledString(command) ||
    !(cwd === undefined || isFilledString(cwd))
  ) {
    return "of a terminal only command and cwd can be changed";
  }
  const placed = cwd === undefined ? params : { ...params, cwd };
  return command === before.command ? placed : { ...placed, command: "sh", args: ["-c", command], env: [] };
};

/** Names what a permission was given for, as the request that carries it out names it. */
export const effectKey = ({ action, sessionId }: AcpCall): string | undefined => {
  if (!action) return undefined;
  const args = action.arguments as JsonObject;
  switch (action.kind) {
    case "run":
      return JSON.stringify([sessionId, "run", args.command, args.cwd ?? null]);
    case "write":
      return JSON.stringify([sessionId, "write", args.path, args.content ?? null]);
    case "edit":
      return isFilledString(args.new_text)
        ? JSON.stringify([sessionId, "write", args.path, args.new_text])
        : undefined;
    default:
      return undefined;
  }
};
