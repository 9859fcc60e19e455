import type { Call } from "./call.ts";

/**
 * Calls that wait for a place at one agent. The tools take turns, so that many calls of one do not keep the others
 * waiting; the calls of one tool leave in the order in which they came.
 */
export class CallQueue {
  /** In the order of their turns. */
  readonly #byTool = new Map<string, Set<Call>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Whether calls of this tool wait. */
  waits(toolId: string): boolean {
    return this.#byTool.has(toolId);
  }

  add(call: Call): void {
    const waiting = this.#byTool.get(call.toolId);
    if (waiting) waiting.add(call);
    else this.#byTool.set(call.toolId, new Set([call]));
    this.#size++;
  }

  remove(call: Call): void {
    const waiting = this.#byTool.get(call.toolId);
    if (!waiting?.delete(call)) return;
    this.#size--;
    if (waiting.size === 0) this.#byTool.delete(call.toolId);
  }

  /** Takes out the next call whose tool has room. */
  next(): Call | undefined {
    for (const [toolId, waiting] of this.#byTool) {
      for (const call of waiting) {
        if (!hasRoom(call)) break;
        this.remove(call);
        if (this.#byTool.delete(toolId)) this.#byTool.set(toolId, waiting);
        return call;
      }
    }
    return undefined;
  }

  /** Takes out everything. */
  drain(): Call[] {
    const calls = [...this.#byTool.values()].flatMap((waiting) => [...waiting]);
    this.#byTool.clear();
    this.#size = 0;
    return calls;
  }
}

/** Whether another call of this call's tool may run. */
export const hasRoom = ({ tool: { slots } }: Call): boolean =>
  slots === undefined || slots.running < slots.limit;
