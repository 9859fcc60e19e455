import { findHost, HookError, readHook } from "@harnesskit/agent-hooks";
import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { usageError } from "../cli-error.ts";
import { oneLine } from "../terminal/text.ts";
import { readFileOrStdin } from "./read-message.ts";

/**
 * The event of a hook's input, as a coding agent writes it, in the working directory. Throws a usage error for what the agent does not write,
 * and for events that are passed over.
 */
export const readHookEvent = async (file: string, agent: string): Promise<AhpEvent> => {
  const text = await readFileOrStdin(file);
  const name = file === "-" ? "Standard input" : oneLine(file);
  try {
    const { event, hookEvent } = readHook(findHost(agent), text, { workspace: process.cwd() });
    if (event) return event;
    throw usageError(`${name}: no policy is asked about ${oneLine(hookEvent, 100)}`);
  } catch (error) {
    if (HookError.isInstance(error)) throw usageError(`${name}: ${oneLine(error.message, 500)}`);
    throw error;
  }
};
