import { canonicalJson } from "@harnesskit/wire";
import { _, Ajv2020, type KeywordCxt, type ValidateFunction } from "ajv/dist/2020.js";
import type { CoreLimits } from "./core-limits.ts";
import { patternEngine } from "./pattern-engine.ts";
import { loopKeyword, type SafeSchema, stepKeyword } from "./safe-schema.ts";
import { StepMeter } from "./step-meter.ts";

/** Where a value does not fit its schema, without anything of the value. */
export interface ValidationProblem {
  /** JSON pointer to the place in the value. */
  readonly path: string;
  /** The keyword of the schema that it does not fit. */
  readonly keyword: string;
  /** For people: `must be string`. */
  readonly message: string;
}

/** Looks at a value. Returns undefined when it fits. */
export type Validator = (value: unknown) => ValidationProblem | undefined;

export type UsableSchema = Extract<SafeSchema, { ok: true }>;

const tooCostly: ValidationProblem = {
  path: "",
  keyword: "",
  message: "is too large or too intricate for the schema",
};

const maxPathLength = 256;
const maxMessageLength = 512;

/**
 * Compiles the schemas of tools, each when it is first needed. The schemas come from
 * agents that nobody vouches for. They are copies by `toSafeSchema`, patterns are tested in linear time, and each
 * validation has a budget of steps: a step is a keyword looked at, or an entry or some characters of the value where a
 * keyword looks at each. A value that needs more does not fit.
 */
export class ToolValidators {
  readonly #limits: CoreLimits;
  readonly #meter = new StepMeter();
  readonly #compiled = new Map<string, Validator>();

  constructor(limits: CoreLimits) {
    this.#limits = limits;
  }

  /**
   * The validator of the schema, compiled now unless it is known by its digest. Throws what the compiler throws for a
   * schema that it cannot compile.
   */
  validator(digest: string, safe: UsableSchema): Validator {
    const known = this.#compiled.get(digest);
    if (known) return known;
    const validator = this.#compile(safe);
    this.#compiled.set(digest, validator);
    if (this.#compiled.size > this.#limits.maxCompiledSchemas) {
      for (const oldest of this.#compiled.keys()) {
        this.#compiled.delete(oldest);
        break;
      }
    }
    return validator;
  }

  #compile(safe: UsableSchema): Validator {
    const meter = this.#meter;
    const validate = createCompiler(meter, safe.lenient).compile({ $id: schemaId, ...safe.schema });
    const { maxValidationSteps } = this.#limits;
    return (value) => {
      meter.left = maxValidationSteps;
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

/** One for each schema, because a compiler keeps what it compiled for as long as it lives. */
const createCompiler = (meter: StepMeter, lenient: boolean): Ajv2020 => {
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
    code: { optimize: false, regExp: patternEngine(meter, lenient) },
  });
  addMeteredKeywords(ajv, meter);
  return ajv;
};

const firstProblem = (validate: ValidateFunction): ValidationProblem => {
  const error = validate.errors?.[0];
  if (!error) return { path: "", keyword: "", message: "does not fit the schema" };
  const { missingProperty, additionalProperty } = error.params as Record<string, unknown>;
  const property = missingProperty ?? additionalProperty;
  const path = typeof property === "string" ? `${error.instancePath}/${property}` : error.instancePath;
  return {
    path: path.slice(0, maxPathLength),
    keyword: error.keyword,
    message: (error.message ?? "does not fit the schema").slice(0, maxMessageLength),
  };
};

const addMeteredKeywords = (ajv: Ajv2020, meter: StepMeter): void => {
  ajv.addKeyword({
    keyword: stepKeyword,
    before: "$ref",
    code({ gen, schema }: KeywordCxt) {
      const counter = gen.scopeValue("obj", { ref: meter });
      gen.if(_`(${counter}.left -= ${schema as number}) < 0`, () => gen.throw(_`${counter}.exhausted`));
    },
  });
  ajv.addKeyword({
    keyword: loopKeyword,
    before: stepKeyword,
    code({ gen, data, schema }: KeywordCxt) {
      gen.code(_`${gen.scopeValue("obj", { ref: meter })}.takeFor(${data}, ${schema as number})`);
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
    const text = textOf(item);
    meter.take(1 + (text.length >> 4));
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
};

/** A text that equal values share, also where a lone surrogate keeps them from having a canonical one. */
const textOf = (item: unknown): string => {
  if (typeof item === "string") return `"${item}`;
  if (typeof item !== "object" || item === null) return String(item);
  try {
    return canonicalJson(item);
  } catch {
    return JSON.stringify(item);
  }
};
