import type { ShellResponse } from "@harnesskit/protocol/openharness";
import type { ShellCall, ShellReply } from "@harnesskit/shell-engine";
import { BoundedMap, callSafely, digest, systemClock } from "@harnesskit/wire";
import type { ChatShellOptions } from "./chat-shell-options.ts";
import { EndReports, endsIn } from "./ended-turns.ts";
import { RequestTurn, saysSomething } from "./request-turn.ts";
import { harnessFailure } from "./turn-failure.ts";

const maxSessionIdLength = 512;
/** Resumed turns of which it is known what their shells were shown; the end of any other shows all of it again. */
const maxRememberedTurns = 10_000;

const sessionKey = async <Context>({ conversation: { key } }: ShellCall<Context>): Promise<string> =>
  key.length <= maxSessionIdLength ? key : digest(key);

/** Answers the requests of shells by turns of a chat harness; holds what the requests of one engine share. */
export class ChatHandler<Context> {
  readonly options: ChatShellOptions<Context>;
  /** How many messages of a resumed turn its shell was shown. */
  readonly shown = new BoundedMap<string, number>({ maxSize: maxRememberedTurns });
  readonly reports = new EndReports();
  /** Sessions whose accepted answers are being continued. */
  readonly #recovering = new Set<string>();

  constructor(options: ChatShellOptions<Context>) {
    this.options = options;
  }

  readonly handle = async (call: ShellCall<Context>): Promise<ShellReply> => {
    const { sessionIdOf = sessionKey } = this.options;
    const turn = new RequestTurn(this, call, await sessionIdOf(call));
    const { run, approval } = call;
    try {
      if (run && approval) await turn.answer(run, approval);
      else if (saysSomething(call)) await turn.say();
      return await turn.reply();
    } catch (error) {
      throw harnessFailure(error);
    } finally {
      turn.end();
    }
  };

  /**
   * Notes the ends of turns that a response reports, after what sends it: a process that dies in between reports them once more. Until
   * that is stored no request reports them again.
   */
  noteEnds(response: ShellResponse): void {
    const { clock = systemClock, harness } = this.options;
    const ended = endsIn(response);
    for (const id of ended) this.reports.begin(id);
    if (ended.size === 0) return;
    clock.after(0, () => {
      for (const id of ended) void harness.acknowledge(id).finally(() => this.reports.end(id));
    });
  }

  /** Continues turns whose answers were accepted by a process that did not finish them. It is not waited for. */
  recover(sessionId: string): void {
    const { harness, onError } = this.options;
    if (this.#recovering.has(sessionId)) return;
    this.#recovering.add(sessionId);
    harness
      .recover({ sessionId })
      .catch((error: unknown) => callSafely(() => onError?.(error)))
      .finally(() => this.#recovering.delete(sessionId));
  }
}
