import type { TimelineRow } from "@harnesskit/protocol/hub";
import { joinKey } from "@harnesskit/wire";
import { ruleHit, sessionTally } from "./row-rules.ts";
import type { RuleTally, SessionTally, StoredContent } from "./timeline-store.ts";

/** What changes of rows add to the counts of sessions and rules. */
export class RowTally {
  readonly #sessions = new Map<string, SessionTally>();
  readonly #rules = new Map<string, RuleTally>();

  /** One for each session; its numbers are what to add. */
  get sessions(): readonly SessionTally[] {
    return [...this.#sessions.values()];
  }

  /** One for each decision of a rule; `hits` is what to add. */
  get rules(): readonly RuleTally[] {
    return [...this.#rules.values()];
  }

  get isEmpty(): boolean {
    return this.#sessions.size === 0 && this.#rules.size === 0;
  }

  /** A row became another; `before` is undefined and `content` is given for a new row. */
  add(before: TimelineRow | undefined, after: TimelineRow, content: StoredContent | undefined): void {
    const key = joinKey(after.agent, after.session);
    this.#sessions.set(key, sessionTally(this.#sessions.get(key), before, after, content));
    this.addRule(before, after);
  }

  /** As `add`, for the rules alone. */
  addRule(before: TimelineRow | undefined, after: TimelineRow): void {
    const hit = ruleHit(before, after);
    if (hit === undefined) return;
    const key = joinKey(hit.kind, hit.name, hit.decision);
    this.#rules.set(key, { ...hit, hits: (this.#rules.get(key)?.hits ?? 0) + 1, lastHitAtMs: after.atMs });
  }

  clear(): void {
    this.#sessions.clear();
    this.#rules.clear();
  }
}
