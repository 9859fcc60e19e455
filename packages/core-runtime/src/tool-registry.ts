import { type RuntimeError, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import type { CoreLimits } from "./core-limits.ts";
import { judgeTool } from "./judge-tool.ts";
import { isObject } from "./measure-json.ts";
import { RegisteredTool, type ToolInfo, type ToolSlots } from "./registered-tool.ts";
import type { ToolValidators } from "./tool-validators.ts";

/** What became of one registration. */
export interface RegistrationOutcome {
  readonly registered: string[];
  /** As many as an answer may hold. What comes after them is rejected too, unseen. */
  readonly rejected: { tool_id: string; error: RuntimeError }[];
  readonly rejectedCount: number;
  /** Tools whose schemas are not those that this agent registered last under the same id. */
  readonly changed: string[];
}

/** Characters of rejections in one answer, so that it stays far below a frame. */
const maxRejectionLength = 512 * 1024;
const maxToolIdLength = 257;

/** The tools of one session. */
export class ToolRegistry {
  readonly #agentId: string;
  readonly #limits: CoreLimits;
  readonly #validators: ToolValidators;
  readonly #slotsOf: (name: string) => ToolSlots | undefined;
  /** The schema digests that this agent registered last, in this session or one before. */
  readonly #knownDigests: Map<string, string>;
  readonly #tools = new Map<string, RegisteredTool>();
  #length = 0;
  #isAwaited = true;

  constructor(options: {
    readonly agentId: string;
    readonly limits: CoreLimits;
    readonly validators: ToolValidators;
    readonly slotsOf: (name: string) => ToolSlots | undefined;
    readonly knownDigests: Map<string, string>;
  }) {
    this.#agentId = options.agentId;
    this.#limits = options.limits;
    this.#validators = options.validators;
    this.#slotsOf = options.slotsOf;
    this.#knownDigests = options.knownDigests;
  }

  /** The agent has registered nothing yet, so that nobody can say which tools it has. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  get size(): number {
    return this.#tools.size;
  }

  get(toolId: string): RegisteredTool | undefined {
    return this.#tools.get(toolId);
  }

  ids(): string[] {
    return [...this.#tools.keys()];
  }

  infos(): ToolInfo[] {
    return Array.from(this.#tools.values(), (tool) => tool.info);
  }

  register(declarations: readonly unknown[], replace: boolean): RegistrationOutcome {
    this.#isAwaited = false;
    if (replace) {
      this.#tools.clear();
      this.#length = 0;
    }
    const outcome = { registered: [] as string[], rejected: [] as RegistrationOutcome["rejected"] };
    const changed: string[] = [];
    let rejectedCount = 0;
    let rejectionLength = 0;
    for (const [index, declared] of declarations.entries()) {
      if (rejectionLength > maxRejectionLength) {
        rejectedCount += declarations.length - index;
        break;
      }
      const error = this.#registerOne(declared, outcome.registered, changed);
      if (!error) continue;
      rejectedCount++;
      const toolId = toolIdOf(declared);
      rejectionLength += 256 + toolId.length + error.message.length;
      outcome.rejected.push({ tool_id: toolId, error });
    }
    return { ...outcome, rejectedCount, changed };
  }

  /** Returns which of them were registered. */
  unregister(toolIds: readonly string[]): string[] {
    return toolIds.filter((toolId) => {
      this.#length -= this.#tools.get(toolId)?.length ?? 0;
      return this.#tools.delete(toolId);
    });
  }

  #registerOne(declared: unknown, registered: string[], changed: string[]): RuntimeError | undefined {
    // Before the declaration is looked at, so that what is too much costs nothing.
    if (this.#tools.size >= this.#limits.maxTools) {
      return refusal(RuntimeErrorCode.TooManyTools, `an agent may have ${this.#limits.maxTools} tools`);
    }
    if (!isObject(declared)) return refusal(RuntimeErrorCode.InvalidTool, "a declaration is an object");
    if (typeof declared.tool_id === "string" && this.#tools.has(declared.tool_id)) {
      return refusal(RuntimeErrorCode.ToolConflict, "the agent has a tool of this name already");
    }
    const judged = judgeTool(declared, this.#agentId, this.#limits);
    if (!judged.ok) return judged.error;
    const { info, length, input, output } = judged;
    if (this.#length + length > this.#limits.maxRegistryLength) {
      const { maxRegistryLength } = this.#limits;
      return refusal(
        RuntimeErrorCode.ToolTooLarge,
        `the tools together exceed ${maxRegistryLength} characters`,
      );
    }
    const slots = this.#slotsOf(info.name);
    this.#length += length;
    this.#tools.set(
      info.tool_id,
      new RegisteredTool({ info, length, slots, validators: this.#validators, input, output }),
    );
    registered.push(info.tool_id);
    if (this.#isChanged(info)) changed.push(info.tool_id);
    return undefined;
  }

  #isChanged({ tool_id: toolId, schema_digest: digest }: ToolInfo): boolean {
    const known = this.#knownDigests.get(toolId);
    this.#knownDigests.delete(toolId);
    this.#knownDigests.set(toolId, digest);
    if (this.#knownDigests.size > this.#limits.maxTools) {
      for (const oldest of this.#knownDigests.keys()) {
        this.#knownDigests.delete(oldest);
        break;
      }
    }
    return known !== undefined && known !== digest;
  }
}

const refusal = (code: RuntimeErrorCode, message: string): RuntimeError => ({
  code,
  message,
  where: "core.registry",
});

const toolIdOf = (declared: unknown): string =>
  isObject(declared) && typeof declared.tool_id === "string"
    ? declared.tool_id.slice(0, maxToolIdLength)
    : "";
