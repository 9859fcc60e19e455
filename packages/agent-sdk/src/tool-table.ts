import { InvalidArgumentError } from "@harnesskit/wire";
import type { Tool } from "./tool.ts";

/** The tools of an agent by name. */
export class ToolTable {
  readonly #agentId: string;
  readonly #tools = new Map<string, Tool>();
  readonly #byId = new Map<string, Tool>();

  constructor(agentId: string, tools: readonly Tool[]) {
    this.#agentId = agentId;
    this.add(tools);
  }

  get all(): Tool[] {
    return [...this.#tools.values()];
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** By `<agent_id>/<name>`. */
  byId(toolId: string): Tool | undefined {
    return this.#byId.get(toolId);
  }

  idOf(name: string): string {
    return `${this.#agentId}/${name}`;
  }

  /** Throws `invalid_argument` when a name is there already; then nothing was added. */
  add(tools: readonly Tool[]): void {
    const names = new Set<string>();
    for (const { name } of tools) {
      if (names.has(name) || this.#tools.has(name)) {
        throw new InvalidArgumentError(`the agent has a tool ${name} already; unregister it first`);
      }
      names.add(name);
    }
    for (const tool of tools) {
      this.#tools.set(tool.name, tool);
      this.#byId.set(this.idOf(tool.name), tool);
    }
  }

  /** Returns the names that were there. */
  remove(names: readonly string[]): string[] {
    return names.filter((name) => this.#byId.delete(this.idOf(name)) && this.#tools.delete(name));
  }
}
