import type { ActionDirective, Continuation } from "@harnesskit/protocol/openharness";
import type { CallScope } from "./call-scope.ts";
import type { DirectiveWork, Questioned, Worked } from "./directive-work.ts";
import { planOf } from "./plan.ts";
import type { DirectiveResult } from "./shell-outcome.ts";
import type { Turnstile } from "./turnstile.ts";

/** The directives of one response. */
export interface Delivery {
  readonly directives: readonly ActionDirective[];
  readonly requestId: string;
  /** When the response came: deadlines count from here (section 10). */
  readonly receivedAtMs: number;
  readonly isParallel: boolean;
  readonly scope: CallScope;
  readonly turnstile: Turnstile;
  readonly continuation: Continuation | undefined;
}

export interface CarriedOut {
  /** In the order of their places. */
  readonly results: readonly DirectiveResult[];
  readonly questions: readonly Questioned[];
}

export interface CarryOutOptions {
  readonly work: DirectiveWork;
  readonly maxParallel: number;
  readonly stopsAfterRefusal: boolean;
  readonly onResult: (result: DirectiveResult) => void;
}

/** Carries the directives of a response out, group by group. Never rejects: each has its result, whatever became of the others. */
export const carryOut = async (delivery: Delivery, options: CarryOutOptions): Promise<CarriedOut> => {
  const { directives, requestId, receivedAtMs, isParallel, scope, turnstile, continuation } = delivery;
  const { work, maxParallel, stopsAfterRefusal, onResult } = options;
  const worked: Worked[] = [];
  let isStopped = false;

  const one = async (index: number): Promise<void> => {
    const directive = directives[index] as ActionDirective;
    const { deadline_ms } = directive;
    const done = await work.do({
      directive,
      index,
      requestId,
      deadlineAtMs: deadline_ms === undefined ? undefined : receivedAtMs + deadline_ms,
      scope,
      turnstile,
      isStopped: () => isStopped,
      onRefusal: () => {
        isStopped = stopsAfterRefusal;
      },
      continuation,
    });
    worked[index] = done;
    onResult(done.result);
  };

  for (const group of planOf(directives, isParallel)) {
    const waiting = group[Symbol.iterator]();
    const lane = async () => {
      for (const index of waiting) await one(index);
    };
    await Promise.all(Array.from({ length: Math.min(maxParallel, group.length) }, lane));
  }
  return {
    results: worked.map(({ result }) => result),
    questions: worked.flatMap(({ question }) => question ?? []),
  };
};
