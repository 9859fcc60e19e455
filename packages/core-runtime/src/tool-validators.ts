import { BoundedMap } from "@harnesskit/wire";
import { canonicalJson } from "@harnesskit/wire/json";
import { _, Ajv2020, type KeywordCxt, type ValidateFunction } from "ajv/dist/2020.js";
import type { CoreLimits } from "./core-limits.ts";
import { patternEngine } from "./pattern-engine.ts";
import { type SafeSchema, type Steps, stepKeyword } from "./safe-schema.ts";
import { StepMeter } from "./step-meter.ts";

/** Where a value does not match its schema, without anything of the value. */
export interface ValidationProblem {
  /** JSON pointer to the place in the value. */
  readonly path: string;
  /** The keyword of the schema that failed. */
  readonly keyword: string;
  /** For people: `must be string`. */
  readonly message: string;
}

type Validator = (value: unknown) => ValidationProblem | undefined;

/** A schema as it was judged, with the digest that it is compiled under. */
export interface JudgedSchema {
  readonly digest: string;
  readonly safe: Extract<SafeSchema, { ok: true }>;
}

const problem = (message: string): ValidationProblem => ({ path: "", keyword: "", message });
const tooCostly = problem("is too large or too intricate for the schema");
const cannotCompile = problem("the tool's schema cannot be compiled");

const maxPathLength = 256;
const maxMessageLength = 512;

/**
 * Checks values against the schemas of untrusted tools; each schema is compiled when it is first needed. The schemas are
 * copies by `toSafeSchema`, patterns are tested in linear time, and each validation has a budget of steps: a step is a
 * keyword looked at, or an entry or some characters of the value where a keyword looks at each. A value that needs more
 * does not match.
 */
export class ToolValidators {
  readonly #maxSteps: number;
  readonly #meter = new StepMeter();
  readonly #compiled: BoundedMap<string, Validator>;

  constructor({ maxValidationSteps, maxCompiledSchemas }: CoreLimits) {
    this.#maxSteps = maxValidationSteps;
    this.#compiled = new BoundedMap({ maxSize: maxCompiledSchemas });
  }

  /** Returns undefined for a value that matches the schema. */
  check({ digest, safe }: JudgedSchema, value: unknown): ValidationProblem | undefined {
    let validator = this.#compiled.get(digest);
    if (!validator) {
      try {
        validator = this.#compile(safe);
      } catch {
        validator = () => cannotCompile;
      }
      this.#compiled.set(digest, validator);
    }
    return validator(value);
  }

  #compile(safe: JudgedSchema["safe"]): Validator {
    const meter = this.#meter;
    const validate = createCompiler(meter).compile({ $id: schemaId, ...safe.schema });
    return (value) => {
      meter.left = this.#maxSteps;
      try {
        return validate(value) ? undefined : firstProblem(validate);
      } catch {
        // The budget is spent, or a schema that refers to itself without end has filled the stack.
        return tooCostly;
      }
    };
  }
}

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
