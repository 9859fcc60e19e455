import type { ApprovalSubject } from "@harnesskit/approvals";
import { type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { HarnessError } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { maxIdLength } from "./event-text.ts";
import type { EventFacts } from "./read-event.ts";

/** Names of subjects that are not a tool's. */
const ownNames: ReadonlySet<string> = new Set(["prompt", ...Object.keys(ahpEvents)]);
const toolPrefix = "tool:";
/** Fields of an input that hold what is not an object of arguments. */
const argumentsField = "(arguments)";
const payloadField = "(payload)";

const unaskable = (message: string): HarnessError => new HarnessError("invalid_argument", message);

/** A tool's name, never the same as a name of ours or of another tool. Throws `invalid_argument` for one that cannot be shown whole. */
const toolName = (name: string): string => {
  const own = ownNames.has(name) || name.startsWith(toolPrefix) ? `${toolPrefix}${name}` : name;
  if (own.length <= maxIdLength) return own;
  throw unaskable(`tool_name has ${name.length} characters; a human is asked about at most ${maxIdLength}`);
};

/** What of a payload says what a call does, where it is not in `arguments`. */
const besideArguments = ({
  action_type: _type,
  tool_name: _tool,
  tool_call_id: _id,
  call_id: _call,
  run_id: _run,
  preview: _preview,
  arguments: _arguments,
  ...rest
}: JsonObject): JsonObject => rest;

const inputOf = (payload: JsonObject): JsonObject => {
  const { arguments: given } = payload;
  if (given === undefined || given === null) {
    const rest = besideArguments(payload);
    return Object.keys(rest).length === 0 ? {} : { [payloadField]: rest };
  }
  if (!isObject(given)) return { [argumentsField]: given };
  const taken = [argumentsField, payloadField].find((field) => Object.hasOwn(given, field));
  if (taken !== undefined) throw unaskable(`arguments must not have the field ${JSON.stringify(taken)}`);
  return given as JsonObject;
};

const promptInput = ({ prompt = "", ...rest }: JsonObject): JsonObject => {
  if (typeof prompt !== "string") return { ...rest, prompt };
  // A field `text` of the agent would stand in the prompt's place.
  const isNamedAlike = Object.hasOwn(rest, "text") || Object.hasOwn(rest, "payload");
  return isNamedAlike ? { text: prompt, payload: rest } : { ...rest, text: prompt };
};

/**
 * What the agent wants to do, as a human is asked about it: two different actions have different subjects. Throws `invalid_argument` for
 * an action that cannot be asked about.
 */
export const subjectOf = (
  type: AhpEventType,
  { payload, metadata }: Pick<EventFacts, "payload" | "metadata">,
): ApprovalSubject => {
  const { preview = payload.preview } = metadata;
  const shown = typeof preview === "string" && preview !== "" ? { preview } : {};
  if (type === "pre_prompt") return { tool: "prompt", input: promptInput(payload), ...shown };
  const { tool_name: name } = payload;
  if (type === "pre_action" && typeof name === "string" && name !== "") {
    return { tool: toolName(name), input: inputOf(payload), ...shown };
  }
  const { session_id: _session, ...rest } = payload;
  return { tool: type, input: rest, ...shown };
};
