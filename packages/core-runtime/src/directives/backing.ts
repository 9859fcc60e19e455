import { RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { HarnessError } from "@harnesskit/wire";
import type { Call } from "../call.ts";
import { type CallResult, coreResult } from "../call-result.ts";
import { recordFault } from "../records/record-file-error.ts";
import type { IssuedDirectives } from "./directives.ts";
import { type DirectiveRefusal, directiveRefusals } from "./judge-directive.ts";

/** The end of a call that no directive backs; `details.reason` says why. */
export const unbacked = (reason: DirectiveRefusal, more = ""): CallResult =>
  coreResult(RuntimeErrorCode.DirectiveRequired, `${directiveRefusals[reason]}${more}`, {
    details: { reason },
  });

const unavailable = (error: unknown): CallResult => unbacked("unavailable", ` (${recordFault(error)})`);

/** Uses directives for calls, and gives back those of calls that were not sent. */
export class Backing {
  readonly #directives: IssuedDirectives;
  readonly #onError: (error: HarnessError, agentId: string) => void;
  /** Uses that are being given back. */
  readonly #returning = new Set<Promise<void>>();

  constructor(directives: IssuedDirectives, onError: (error: HarnessError, agentId: string) => void) {
    this.#directives = directives;
    this.#onError = onError;
  }

  /** Why the call's directive does not back it, apart from how often it was used. */
  async check(call: Call, id: string): Promise<CallResult | undefined> {
    try {
      const problem = await this.#directives.check(id, call);
      return problem && unbacked(problem);
    } catch (error) {
      return unavailable(error);
    }
  }

  /** Uses the call's directive, until the call ends without having been sent. Returns why it cannot. */
  async use(call: Call, id: string): Promise<CallResult | undefined> {
    try {
      const outcome = await this.#directives.use(id, call, () => call.state !== "ended");
      if (outcome === "unwanted") return undefined;
      if (outcome !== "used") return unbacked(outcome);
    } catch (error) {
      return unavailable(error);
    }
    const giveBack = () => this.#giveBack(call, id);
    if (call.state === "ended") giveBack();
    else call.onUnsent = giveBack;
    return undefined;
  }

  /** Settles when nothing is being given back. */
  async settled(): Promise<void> {
    await Promise.all(this.#returning);
  }

  /** Where this fails, the use stays used. */
  #giveBack(call: Call, id: string): void {
    const report = (cause: unknown) => {
      const message = "a directive of a call that was not sent stays used";
      this.#onError(
        new HarnessError("directive_not_given_back", message, { cause }),
        call.tool.info.agent_id,
      );
    };
    const done: Promise<void> = this.#directives
      .giveBack(id, call.callId)
      .catch(report)
      .finally(() => this.#returning.delete(done));
    this.#returning.add(done);
  }
}
