import { HarnessError } from "@harnesskit/wire";
import { canonicalJson } from "@harnesskit/wire/json";
import { _, Ajv2020, type KeywordCxt, type ValidateFunction } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import type { ValidationProblem, Validator } from "./judge-tool.ts";
import { type Steps, stepKeyword } from "./safe-schema.ts";

/**
 * Regular expressions of untrusted declarations: tested by an engine with linear time,
 * so that no pattern can hold the process up, and charged to the meter by input length times size of the program.
 * A pattern that the engine cannot take is left to the agent.
 */
const patternEngine = (meter: StepMeter) => {
  const engine = (pattern: string) => {
    const compiled = compile(pattern);
    const size = compiled?.programSize() ?? 0;
    return {
      test(text: string): boolean {
        if (!compiled) return true;
        meter.take(size * (text.length + 1));
        return compiled.test(text);
      },
      /** Equal patterns share a place in the compiled code, different ones must not. */
      toString: () => pattern,
    };
  };
  return Object.assign(engine, { code: "patternEngine" });
};

const compile = (pattern: string): RE2JS | undefined => {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch {
    return undefined;
  }
};

/** Thrown where a validation took more steps than it may; made once, because no one sees its stack. */
const exhausted = new HarnessError(
  "validation_too_costly",
  "the value is too large or too intricate for its schema",
);

/** Counts down while a schema of unknown origin is evaluated, so that no schema and no value can take long. */
class StepMeter {
  /** Steps that are left. Compiled schemas count it down themselves. */
  left = 0;

  take(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw exhausted;
  }

  /** For a keyword that looks at each entry or character of the value. */
  takeFor(value: unknown, weight: number): void {
    this.take(weight * stepsOf(value));
  }
}

const stepsOf = (value: unknown): number => {
  if (typeof value === "string") return 1 + (value.length >> 4);
  if (typeof value !== "object" || value === null) return 1;
  return 1 + (Array.isArray(value) ? value.length : Object.keys(value).length);
};

const problem = (message: string): ValidationProblem => ({ path: "", keyword: "", message });
const tooCostly = problem("is too large or too intricate for the schema");
const cannotCompile = problem("the tool's schema cannot be compiled");

const maxPathLength = 256;
const maxMessageLength = 512;

/**
 * Compiles a copy by `toSafeSchema`. Patterns are tested in linear time, and each validation has a budget of steps: a step is a
 * keyword looked at, or an entry or some characters of the value where a keyword looks at each. A value that needs more
 * does not match. Never throws.
 */
export const compileSchema = (schema: Readonly<Record<string, unknown>>, maxSteps: number): Validator => {
  const meter = new StepMeter();
  let validate: ValidateFunction;
  try {
    validate = createCompiler(meter).compile({ $id: schemaId, ...schema });
  } catch {
    return () => cannotCompile;
  }
  return (value) => {
    meter.left = maxSteps;
    try {
      return validate(value) ? undefined : firstProblem(validate);
    } catch {
      // The budget is spent, or a schema that refers to itself without end has filled the stack.
      return tooCostly;
    }
  };
};

/** A base that references to the root need; nothing is looked up by it. */
const schemaId = "tool";

/** One for each schema, because a compiler keeps everything that it compiled. */
const createCompiler = (meter: StepMeter): Ajv2020 => {
  const ajv = new Ajv2020({
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    strict: false,
    logger: false,
    inlineRefs: false,
    ownProperties: true,
    validateFormats: false,
    // Its optimizer takes time quadratic in the size of the schema.
    code: { optimize: false, regExp: patternEngine(meter) },
  });
  addMeteredKeywords(ajv, meter);
  return ajv;
};

const firstProblem = (validate: ValidateFunction): ValidationProblem => {
  const error = validate.errors?.[0];
  if (!error) return { path: "", keyword: "", message: "does not match the schema" };
  const { missingProperty, additionalProperty } = error.params as Record<string, unknown>;
  const property = missingProperty ?? additionalProperty;
  const path = typeof property === "string" ? `${error.instancePath}/${property}` : error.instancePath;
  return {
    path: path.slice(0, maxPathLength),
    keyword: error.keyword,
    message: (error.message ?? "does not match the schema").slice(0, maxMessageLength),
  };
};

const addMeteredKeywords = (ajv: Ajv2020, meter: StepMeter): void => {
  ajv.addKeyword({
    keyword: stepKeyword,
    before: "$ref",
    code({ gen, data, schema }: KeywordCxt) {
      const { weight, loops } = schema as Steps;
      const counter = gen.scopeValue("obj", { ref: meter });
      if (loops) gen.code(_`${counter}.takeFor(${data}, ${weight})`);
      else gen.code(_`${counter}.take(${weight})`);
    },
  });
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    error: { message: "must NOT have duplicate items" },
    validate: (wanted: boolean, items: unknown[]) => !wanted || areUnique(items, meter),
  });
};

/** In time linear in the size of the items, which comparing each with each is not. */
const areUnique = (items: readonly unknown[], meter: StepMeter): boolean => {
  const seen = new Set<string>();
  for (const item of items) {
    const key = comparisonKey(item);
    meter.take(1 + (key.length >> 4));
    if (seen.has(key)) return false;
    seen.add(key);
  }
  return true;
};

/** A string that equal values share, also where a lone surrogate leaves them without a canonical one. */
const comparisonKey = (item: unknown): string => {
  if (typeof item === "string") return `"${item}`;
  if (typeof item !== "object" || item === null) return String(item);
  try {
    return canonicalJson(item);
  } catch {
    return JSON.stringify(item);
  }
};
