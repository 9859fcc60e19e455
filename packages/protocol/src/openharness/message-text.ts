import type { JsonObject } from "../envelope/json.ts";
import type { ActionDirective } from "./directive.ts";

const firstString = (payload: JsonObject | undefined, names: readonly string[]): string | undefined => {
  if (payload === undefined) return undefined;
  for (const name of names) {
    const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
};

/**
 * The string that stands for a directive that is not carried out (section 11): of its payload `message`, else `text`, else
 * `fallback_message`. Undefined where none of them is a string that is not empty.
 */
export const fallbackTextOf = ({ payload }: ActionDirective): string | undefined =>
  firstString(payload, ["message", "text", "fallback_message"]);

/** The string that stands for a directive whose payload does not fit: `fallback_message` first, else as {@link fallbackTextOf}. */
export const misfitTextOf = ({ payload }: ActionDirective): string | undefined =>
  firstString(payload, ["fallback_message", "message", "text"]);

/**
 * A `render_message` with its string both as `message` and as `text`: engines send the one or the other, and shells read the
 * one or the other. What is there and not empty stays. Any other directive, and one without a string, is given back as it is.
 */
export const withMessageText = (directive: ActionDirective): ActionDirective => {
  const { action_type: type, payload } = directive;
  if (type !== "render_message" || payload === undefined) return directive;
  const message = firstString(payload, ["message"]);
  const text = firstString(payload, ["text"]);
  const found = message ?? text;
  if (found === undefined || message === text) return directive;
  if (message !== undefined && text !== undefined) return directive;
  return { ...directive, payload: { ...payload, message: found, text: found } };
};
