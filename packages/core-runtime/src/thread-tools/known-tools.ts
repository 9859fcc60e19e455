import { HarnessError } from "@harnesskit/wire";
import { isPlainObject } from "@harnesskit/wire/json";
import type { CoreLimits } from "../core-limits.ts";
import type { ToolInfo } from "../judge-tool.ts";
import type { HostedAgent } from "./tool-host.ts";

/** Keeps what agents declared when they last ran, so that a conversation need not wait until they run again. */
export interface KnownToolsStore {
  /**
   * The tools of the agent as it is now; undefined where they are not known. Each is judged anew, like a registration: one that
   * is not valid makes all of them unknown. A rejection counts as unknown.
   */
  read(agent: HostedAgent): Promise<readonly unknown[] | undefined>;
  /** Called when the agent has registered other tools than `read` gave. A rejection is ignored. */
  write(agent: HostedAgent, tools: readonly ToolInfo[]): Promise<void>;
}

/** What a turn is shown of a tool, as one string. */
const shownOf = ({ tool_id, description, declaration_digest }: ToolInfo): string =>
  JSON.stringify([tool_id, description, declaration_digest]);

/** The tools of the agents of one host as they were declared last, in this run or an earlier one. */
export class KnownTools {
  readonly #store: KnownToolsStore | undefined;
  readonly #limits: CoreLimits;
  readonly #known = new Map<string, Promise<readonly ToolInfo[] | undefined>>();

  constructor(store: KnownToolsStore | undefined, limits: CoreLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Keeps what the agent declares now. True if it declares a tool that was not known, or was known otherwise; an agent that has
   * registered some of its tools so far does not. Never rejects.
   */
  async update(agent: HostedAgent, tools: readonly ToolInfo[]): Promise<boolean> {
    const known = await this.of(agent);
    const before = new Set(known?.map(shownOf));
    const isOther = tools.some((tool) => !before.has(shownOf(tool)));
    if (known && !isOther && known.length === tools.length) return false;
    this.#known.set(agent.agentId, Promise.resolve(tools));
    await this.#store?.write(agent, tools).catch(() => {});
    return known !== undefined && isOther;
  }

  /** The tools of an agent; undefined where they are not known. Never rejects. */
  of(agent: HostedAgent): Promise<readonly ToolInfo[] | undefined> {
    const known = this.#known.get(agent.agentId) ?? this.#read(agent).catch(() => undefined);
    this.#known.set(agent.agentId, known);
    return known;
  }

  async #read(agent: HostedAgent): Promise<readonly ToolInfo[] | undefined> {
    const declared = await this.#store?.read(agent);
    if (!declared || declared.length > this.#limits.maxTools) return undefined;
    // With the engine of patterns: no conversation without agents needs it.
    const { judgeTool } = await import("../judge-tool.ts");
    try {
      // The digests are computed, not read: a call is bound to them.
      return declared.map(
        (tool) => judgeTool(isPlainObject(tool) ? tool : {}, agent.agentId, this.#limits).info,
      );
    } catch (error) {
      if (HarnessError.isInstance(error)) return undefined;
      throw error;
    }
  }
}
