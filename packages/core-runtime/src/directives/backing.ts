import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { HarnessError } from "@harnesskit/wire";
import type { Call } from "../call.ts";
import { type CallResult, coreResult } from "../call-result.ts";
import { recordFault } from "../records/record-file-error.ts";
import type { IssuedDirectives } from "./directives.ts";
import { type DirectiveRefusal, directiveRefusals } from "./judge-directive.ts";

/** The end of a call for which the directives cannot be read or changed. */
export const directivesUnavailable = (error: unknown): CallResult =>
  ended("unavailable", ` (${recordFault(error)})`);

const ended = (reason: DirectiveRefusal, more: string): CallResult =>
  coreResult(RuntimeErrorCode.DirectiveRequired, `${directiveRefusals[reason]}${more}`, {
    details: { reason },
  });

/** Uses directives for calls, and gives back those of calls that were not sent. */
export class Backing {
  readonly #directives: IssuedDirectives;
  readonly #onError: (error: HarnessError, agentId: string) => void;
  /** Changes of directives that go on. */
  readonly #changing = new Set<Promise<unknown>>();

  constructor(directives: IssuedDirectives, onError: (error: HarnessError, agentId: string) => void) {
    this.#directives = directives;
    this.#onError = onError;
  }

  /** The end of a call that no directive backs; `details.reason` says why, the message how to issue one. */
  unbacked(reason: DirectiveRefusal): CallResult {
    return ended(reason, reason === "not_yet_valid" ? "" : ": issue one with core.directives.issue");
  }

  /** Why the call's directive does not back it, apart from how often it was used. */
  async check(call: Call, id: string): Promise<CallResult | undefined> {
    try {
      const problem = await this.#directives.check(id, call);
      return problem && this.unbacked(problem);
    } catch (error) {
      return directivesUnavailable(error);
    }
  }

  /** Uses the call's directive, until the call ends without having been sent. Returns why it cannot. */
  use(call: Call, id: string): Promise<CallResult | undefined> {
    return this.#track(this.#use(call, id));
  }

  /** Settles when no directive is being used or given back. */
  async settled(): Promise<void> {
    while (this.#changing.size > 0) await Promise.all(this.#changing);
  }

  async #use(call: Call, id: string): Promise<CallResult | undefined> {
    try {
      const outcome = await this.#directives.use(id, call, () => call.state !== "ended");
      if (outcome === "unwanted") return undefined;
      if (outcome !== "used") return this.unbacked(outcome);
    } catch (error) {
      return directivesUnavailable(error);
    }
    const giveBack = () => void this.#track(this.#giveBack(call, id));
    if (call.state === "ended") giveBack();
    else call.onUnsent = giveBack;
    return undefined;
  }

  /** Where this fails, the use stays used. */
  async #giveBack(call: Call, id: string): Promise<void> {
    try {
      await this.#directives.giveBack(id, call.callId);
    } catch (cause) {
      const message = "a directive of a call that was not sent stays used";
      this.#onError(
        new HarnessError("directive_not_given_back", message, { cause }),
        call.tool.info.agent_id,
      );
    }
  }

  #track<T>(change: Promise<T>): Promise<T> {
    const done: Promise<unknown> = change.finally(() => this.#changing.delete(done));
    this.#changing.add(done);
    return change;
  }
}
