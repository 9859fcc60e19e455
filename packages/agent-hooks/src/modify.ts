import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { canonicalJson, isObject } from "@harnesskit/wire/json";
import { derivedNames, type ToolRule } from "./actions.ts";
import type { HookCall } from "./read-hook.ts";

/** The host's input for a changed payload, or why the change cannot be applied whole. */
export type Modification = { readonly input: JsonObject } | { readonly refused: string };

const same = (one: JsonValue | undefined, other: JsonValue | undefined): boolean =>
  one === undefined || other === undefined ? one === other : canonicalJson(one) === canonicalJson(other);

/** The name of the first field that differs, `allowed` aside. */
const difference = (before: JsonObject, after: JsonObject, allowed: string): string | undefined =>
  Object.keys({ ...before, ...after }).find((key) => key !== allowed && !same(before[key], after[key]));

/** Arguments in the host's names: the reverse of a tool's rule. */
const toHostNames = (
  rule: ToolRule,
  given: JsonObject,
  before: JsonObject,
  args: JsonObject,
): Modification => {
  const back = new Map(Object.entries(rule.rename ?? {}).map(([theirs, ours]) => [ours, theirs]));
  const input: JsonObject = {};
  for (const [name, value] of Object.entries(args)) {
    const theirs = back.get(name) ?? name;
    if (derivedNames(rule).includes(name) && !Object.hasOwn(given, theirs)) {
      if (same(before[name], value)) continue;
      return { refused: `the argument ${name} is not the tool's own` };
    }
    if (Object.hasOwn(input, theirs)) return { refused: `the argument ${name} is given twice` };
    input[theirs] = value;
  }
  const lost = rule.strings.find((name) => typeof input[name] !== "string");
  return lost === undefined ? { input } : { refused: `the argument ${lost} must stay a string` };
};

const toHost = (call: HookCall, given: JsonObject, before: JsonObject, args: JsonObject): Modification => {
  const { action, host, hostTool } = call;
  const isRenamed = action?.kind !== "other" && action?.kind !== "mcp" && hostTool !== undefined;
  const rule = isRenamed && Object.hasOwn(host.tools, hostTool) ? host.tools[hostTool] : undefined;
  return rule ? toHostNames(rule, given, before, args) : { input: args };
};

/**
 * What the host is given for a modified payload. A change of anything but the arguments, of a tool whose arguments are not an object,
 * or of an event whose host does not apply changes is refused, with the reason.
 */
export const toHostInput = (call: HookCall, modified: JsonValue): Modification => {
  const { rule, host, event, toolInput } = call;
  if (!rule?.modifies) return { refused: `${host.name} does not apply changes to ${call.hookEvent}` };
  const payload = event?.payload as JsonObject;
  if (!isObject(modified) || !isObject(modified.arguments)) {
    return { refused: "the modified payload has no object in the field arguments" };
  }
  if (!isObject(toolInput) || !isObject(payload.arguments)) {
    return { refused: "the tool's arguments are not an object" };
  }
  const field = difference(payload, { ...payload, ...(modified as JsonObject) }, "arguments");
  if (field !== undefined) return { refused: `the field ${field} cannot be changed` };
  const given = toolInput as JsonObject;
  const result = toHost(call, given, payload.arguments as JsonObject, modified.arguments as JsonObject);
  if ("refused" in result) return result;
  // One host merges what it gets with the model's arguments, so an argument cannot be taken away.
  const gone = Object.keys(given).find((name) => !Object.hasOwn(result.input, name));
  if (gone !== undefined) return { refused: `the argument ${gone} cannot be removed` };
  if (rule.modifies === "whole") return result;
  const isCommand = typeof given.command === "string" && typeof result.input.command === "string";
  const other = difference(given, result.input, "command");
  return isCommand && other === undefined
    ? result
    : { refused: `${host.name} applies a new command and no other argument` };
};
