import type { Call } from "./call.ts";

/** The calls of one tool that wait, and how many run. */
interface Lane {
  readonly limit: number;
  readonly waiting: Set<Call>;
  running: number;
}

const hasSlot = ({ limit, running }: Lane): boolean => running < limit;

/**
 * The slots of one agent's tools, and the calls that wait for one. The tools take turns, so that many calls of one do not
 * keep the others waiting; the calls of one tool leave in the order in which they came.
 */
export class CallLanes {
  readonly #limits: Readonly<Record<string, number>>;
  /** Of the tools with calls, in the order of their turns. */
  readonly #lanes = new Map<string, Lane>();

  /** `limits` are the manifest's `max_inflight_per_tool`, by the tools' names. */
  constructor(limits: Readonly<Record<string, number>> = {}) {
    this.#limits = limits;
  }

  /** The call need not wait: its tool has a free slot, and no earlier call of the tool waits. */
  isFree({ toolId }: Call): boolean {
    const lane = this.#lanes.get(toolId);
    return !lane || (hasSlot(lane) && lane.waiting.size === 0);
  }

  enqueue(call: Call): void {
    const lane = this.#laneOf(call);
    if (lane.waiting.size === 0) this.#moveToEnd(call.toolId, lane);
    lane.waiting.add(call);
  }

  /** The call runs. */
  take(call: Call): void {
    this.#laneOf(call).running++;
  }

  /** The call neither waits nor runs any more. */
  leave(call: Call, didRun: boolean): void {
    const lane = this.#laneOf(call);
    if (didRun) lane.running--;
    else lane.waiting.delete(call);
    if (lane.running === 0 && lane.waiting.size === 0) this.#lanes.delete(call.toolId);
  }

  /** The next call whose tool has a free slot; then it is another tool's turn. */
  next(): Call | undefined {
    for (const [toolId, lane] of this.#lanes) {
      const [call] = lane.waiting;
      if (!call || !hasSlot(lane)) continue;
      this.#moveToEnd(toolId, lane);
      return call;
    }
    return undefined;
  }

  #moveToEnd(toolId: string, lane: Lane): void {
    this.#lanes.delete(toolId);
    this.#lanes.set(toolId, lane);
  }

  #laneOf({ toolId, tool: { info } }: Call): Lane {
    let lane = this.#lanes.get(toolId);
    if (!lane) {
      const limit = Object.hasOwn(this.#limits, info.name) ? this.#limits[info.name] : undefined;
      lane = { limit: limit ?? Number.POSITIVE_INFINITY, waiting: new Set(), running: 0 };
      this.#lanes.set(toolId, lane);
    }
    return lane;
  }
}
