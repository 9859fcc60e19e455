import { type RuntimeError, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { isObject } from "@harnesskit/wire/json";
import type { CoreLimits } from "./core-limits.ts";
import { judgeTool, type RegisteredTool, type ToolInfo, ToolRefusal } from "./judge-tool.ts";

/** The outcome of one registration. */
export interface RegistrationOutcome {
  readonly registered: string[];
  /** As many as an answer may hold. What comes after them is rejected too, unseen. */
  readonly rejected: { tool_id: string; error: RuntimeError }[];
  rejectedCount: number;
}

/** Characters of rejections in one answer, so that it stays far below a frame. */
const maxRejectionLength = 512 * 1024;
const maxToolIdLength = 257;

/** The tools of one session. */
export class ToolRegistry {
  /** The agent has not registered anything yet, so that its tools are unknown. */
  isAwaited = true;
  readonly #agentId: string;
  readonly #limits: CoreLimits;
  readonly #tools = new Map<string, RegisteredTool>();
  #length = 0;

  constructor(agentId: string, limits: CoreLimits) {
    this.#agentId = agentId;
    this.#limits = limits;
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
    this.isAwaited = false;
    if (replace) {
      this.#tools.clear();
      this.#length = 0;
    }
    const outcome: RegistrationOutcome = { registered: [], rejected: [], rejectedCount: 0 };
    let rejectionLength = 0;
    for (const [index, declared] of declarations.entries()) {
      if (rejectionLength > maxRejectionLength) {
        outcome.rejectedCount += declarations.length - index;
        break;
      }
      try {
        this.#registerOne(declared, outcome);
      } catch (refusal) {
        if (!(refusal instanceof ToolRefusal)) throw refusal;
        const id = isObject(declared) && typeof declared.tool_id === "string" ? declared.tool_id : "";
        const tool_id = id.slice(0, maxToolIdLength);
        outcome.rejectedCount++;
        rejectionLength += 256 + tool_id.length + refusal.message.length;
        outcome.rejected.push({ tool_id, error: refusal.toRuntimeError() });
      }
    }
    return outcome;
  }

  /** Returns which of them were registered. */
  unregister(toolIds: readonly string[]): string[] {
    return toolIds.filter((toolId) => {
      this.#length -= this.#tools.get(toolId)?.length ?? 0;
      return this.#tools.delete(toolId);
    });
  }

  #registerOne(declared: unknown, outcome: RegistrationOutcome): void {
    const limits = this.#limits;
    const { InvalidTool, ToolConflict, ToolTooLarge, TooManyTools } = RuntimeErrorCode;
    // Before the declaration is looked at, so that tools beyond the limit cost nothing.
    if (this.#tools.size >= limits.maxTools) {
      throw new ToolRefusal(TooManyTools, `an agent may have ${limits.maxTools} tools`);
    }
    if (!isObject(declared)) throw new ToolRefusal(InvalidTool, "a declaration must be an object");
    if (typeof declared.tool_id === "string" && this.#tools.has(declared.tool_id)) {
      throw new ToolRefusal(ToolConflict, "the agent has a tool of this name already");
    }
    const tool = judgeTool(declared, this.#agentId, limits);
    if (this.#length + tool.length > limits.maxRegistryLength) {
      throw new ToolRefusal(ToolTooLarge, `the tools together exceed ${limits.maxRegistryLength} characters`);
    }
    const { tool_id: toolId } = tool.info;
    this.#length += tool.length;
    this.#tools.set(toolId, tool);
    outcome.registered.push(toolId);
  }
}
