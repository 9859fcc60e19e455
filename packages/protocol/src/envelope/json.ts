import * as z from "zod";
import { isObject as isFields, type JsonWalkOptions, maxMessageDepth, walkJson } from "../base/json-walk.ts";

/** Any JSON value. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** Any JSON object. */
export type JsonObject = { [key: string]: JsonValue };

interface JsonCheck extends Pick<JsonWalkOptions, "nonFinite"> {
  readonly isObject?: boolean;
  /** Keep every key, also `__proto__`. @default false */
  readonly isExact?: boolean;
}

/** @internal Whether a value is JSON of which nothing is refused or left out. */
export const isCleanJson = (value: unknown): boolean =>
  walkJson(value, { maxDepth: maxMessageDepth }).result?.needsCopy === false;

/** Checks a value, and replaces it by a copy only where something of it must be left out. */
const checkJson =
  ({ isObject = false, isExact = false, nonFinite = "refuse" }: JsonCheck) =>
  (payload: z.core.ParsePayload): void => {
    const { value, issues } = payload;
    if (isObject && !isFields(value)) {
      issues.push({ code: "invalid_type", expected: "object", input: value });
      return;
    }
    const bounds = { maxDepth: maxMessageDepth, nonFinite };
    const { result, problem } = walkJson(value, bounds);
    if (problem) {
      const { keys, message, code } = problem;
      issues.push({ code: "custom", input: value, path: [...keys], message, params: { code } });
    } else if (result.needsCopy && !isExact) {
      payload.value = walkJson(value, { ...bounds, copy: true }).result?.value;
    }
  };

/** @internal A schema of any JSON value. */
export const jsonValueSchema = (own: JsonCheck = {}): z.ZodType<JsonValue> =>
  z.unknown().check(checkJson(own)) as z.ZodType as z.ZodType<JsonValue>;

/** @internal A schema of any JSON object. */
export const jsonObjectSchema = (own: JsonCheck = {}): z.ZodType<JsonObject> =>
  z
    .unknown()
    .check(checkJson({ ...own, isObject: true }))
    .meta({ type: "object" }) as z.ZodType as z.ZodType<JsonObject>;

/**
 * Any JSON value of at most `maxMessageDepth` levels. A key `__proto__` is dropped at any depth; a value without one is
 * returned itself and not copied.
 */
export const JsonValueSchema = jsonValueSchema();

/**
 * @internal Any JSON value with every key, also `__proto__`: for a change that is applied completely or refused. Read it with
 * `Object.hasOwn` and `Object.entries`.
 */
export const ExactJsonValueSchema = jsonValueSchema({ isExact: true });

/** Any JSON object, as {@link JsonValueSchema} takes it. */
export const JsonObjectSchema = jsonObjectSchema();
