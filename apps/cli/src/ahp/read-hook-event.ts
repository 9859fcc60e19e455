import { findHost, HookError, readHook } from "@harnesskit/agent-hooks";
import { acpEvent, isAcpMethod, readAcp } from "@harnesskit/agent-hooks/acp";
import { sha256Digest } from "@harnesskit/node-kit";
import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { JsonObjectSchema } from "@harnesskit/protocol/envelope";
import { usageError } from "../cli-error.ts";
import { io } from "../io.ts";
import { readFileOrStdin } from "./read-events.ts";

/** `acp`, or `acp:NAME` with the name in the agent's `agentInfo`. */
const acp = /^acp(?::(.+))?$/;

const readRequest = (text: string, agent: string | undefined, name: string): AhpEvent => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const parsed = JsonObjectSchema.safeParse(value);
  if (!parsed.success) throw usageError(`${name}: not a message of ACP: it must be a JSON object`);
  const { method, params } = parsed.data;
  if (!isAcpMethod(method)) {
    throw usageError(`${name}: no policy is asked about ${JSON.stringify(method ?? null)}`);
  }
  return acpEvent(readAcp(method, params, { workspace: io().cwd(), agent, digest: sha256Digest }));
};

/**
 * The event of what a coding agent writes to a hook, or asks an editor for over ACP, in the working directory. Throws a usage error for what the
 * agent does not write, and for what no policy is asked about.
 */
export const readHookEvent = async (file: string, agent: string): Promise<AhpEvent> => {
  const text = await readFileOrStdin(file);
  const name = file === "-" ? "Standard input" : file;
  try {
    const match = acp.exec(agent);
    if (match) return readRequest(text, match[1], name);
    const { event, hookEvent } = readHook(findHost(agent), text, { workspace: io().cwd() });
    if (event) return event;
    throw usageError(`${name}: no policy is asked about ${hookEvent}`);
  } catch (error) {
    if (HookError.isInstance(error)) throw usageError(`${name}: ${error.message}`);
    throw error;
  }
};
