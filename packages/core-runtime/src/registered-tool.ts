import type { ToolDeclaration } from "@harnesskit/protocol/runtime";
import type { ToolValidators, UsableSchema, ValidationProblem } from "./tool-validators.ts";

/** A tool that agents have registered. */
export interface ToolInfo extends Readonly<ToolDeclaration> {
  readonly agent_id: string;
  /** `sha256:` and the hex digest of both schemas in canonical form. */
  readonly schema_digest: string;
  /** Patterns in its schemas with lookaround or back references: they are left to the agent. */
  readonly unchecked_patterns: number;
}

/** How many calls of one tool run, and how many may. Outlives a registration. */
export interface ToolSlots {
  readonly limit: number;
  running: number;
}

/** A schema as it was judged, with the digest that it is compiled under. */
export interface JudgedSchema {
  readonly digest: string;
  readonly safe: UsableSchema;
}

const cannotCompile: ValidationProblem = {
  path: "",
  keyword: "",
  message: "the tool's schema cannot be compiled",
};

/** One registration of a tool. */
export class RegisteredTool {
  readonly info: ToolInfo;
  /** About as many characters as the declaration has. */
  readonly length: number;
  readonly slots: ToolSlots | undefined;
  readonly #validators: ToolValidators;
  readonly #input: JudgedSchema;
  readonly #output: JudgedSchema | undefined;

  constructor(options: {
    readonly info: ToolInfo;
    readonly length: number;
    readonly slots: ToolSlots | undefined;
    readonly validators: ToolValidators;
    readonly input: JudgedSchema;
    readonly output: JudgedSchema | undefined;
  }) {
    this.info = options.info;
    this.length = options.length;
    this.slots = options.slots;
    this.#validators = options.validators;
    this.#input = options.input;
    this.#output = options.output;
  }

  checkInput(input: unknown): ValidationProblem | undefined {
    return this.#check(this.#input, input);
  }

  /** A tool without `output_schema` may answer with any JSON object. */
  checkOutput(output: unknown): ValidationProblem | undefined {
    return this.#output && this.#check(this.#output, output);
  }

  #check(schema: JudgedSchema, value: unknown): ValidationProblem | undefined {
    try {
      return this.#validators.validator(schema.digest, schema.safe)(value);
    } catch {
      return cannotCompile;
    }
  }
}
