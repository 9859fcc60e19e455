import type * as z from "zod";
import { maxMessageDepth, walkJson } from "../base/json-walk.ts";
import type { JsonObject } from "../envelope/json.ts";
import { type ShellRequest, ShellRequestSchema } from "./request.ts";
import { type ShellResponse, ShellResponseSchema } from "./response.ts";

const relayed = <T>(schema: z.ZodType<T>, message: unknown): T & JsonObject => {
  const known = schema.parse(message);
  // What the schema has accepted is an object; only what is not JSON at all, such as a function in an unknown field, is not kept.
  const { result } = walkJson(message, { maxDepth: maxMessageDepth, nonFinite: "null", copy: true });
  return (result?.value ?? known) as T & JsonObject;
};

/**
 * Checks a request for whoever passes it on, and gives all of it back: fields that are not known here are kept, except the
 * keys `__proto__`. Throws a `ZodError` for what is not a request.
 */
export const relayShellRequest = (message: unknown): ShellRequest & JsonObject =>
  relayed(ShellRequestSchema, message);

/** Checks a response for whoever passes it on, as {@link relayShellRequest} does a request. */
export const relayShellResponse = (message: unknown): ShellResponse & JsonObject =>
  relayed(ShellResponseSchema, message);
