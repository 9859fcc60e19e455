import type { ShellCall, ShellReply } from "@harnesskit/shell-engine";
import { BoundedMap, BoundedSet, callSafely, digest } from "@harnesskit/wire";
import type { ChatShellOptions } from "./chat-shell-options.ts";
import { EndReports } from "./ended-turns.ts";
import { RequestTurn, saysSomething } from "./request-turn.ts";
import { harnessFailure } from "./turn-failure.ts";

const maxSessionIdLength = 512;
/** Resumed turns of which it is known what their shells were shown; the end of any other shows all of it again. */
const maxRememberedTurns = 10_000;

const sessionKey = async ({ conversation: { key } }: ShellCall<never>): Promise<string> =>
  key.length <= maxSessionIdLength ? key : digest(key);

/** Answers the requests of shells by turns of a chat harness. */
export class ChatHandler<Context> {
  readonly #options: ChatShellOptions<Context>;
  readonly #shown = new BoundedMap<string, number>({ maxSize: maxRememberedTurns });
  readonly #reports = new EndReports();
  readonly #shownEnds = new BoundedSet<string>({ maxSize: maxRememberedTurns });
  /** Sessions whose accepted answers are being continued. */
  readonly #recovering = new Set<string>();

  constructor(options: ChatShellOptions<Context>) {
    this.#options = options;
  }

  readonly handle = async (call: ShellCall<Context>): Promise<ShellReply> => {
    const { sessionIdOf = sessionKey } = this.#options;
    const sessionId = await sessionIdOf(call as ShellCall<never>);
    const shared = {
      options: this.#options,
      shown: this.#shown,
      reports: this.#reports,
      shownEnds: this.#shownEnds,
      recover: this.#recover,
    };
    const turn = new RequestTurn(shared, call, sessionId);
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

  /** Notes that ends were reported. Until that is stored no request reports them again. */
  async acknowledge(invocationIds: Iterable<string>): Promise<void> {
    const note = async (id: string) => {
      try {
        await this.#options.harness.acknowledge(id);
      } finally {
        this.#reports.end(id);
      }
    };
    await Promise.all([...invocationIds].map(note));
  }

  /** A response reports these ends; `acknowledge` must follow. */
  reporting(invocationIds: Iterable<string>): void {
    for (const id of invocationIds) this.#reports.begin(id);
  }

  readonly #recover = (sessionId: string): void => {
    const { harness, onError } = this.#options;
    if (this.#recovering.has(sessionId)) return;
    this.#recovering.add(sessionId);
    harness
      .recover({ sessionId })
      .catch((error: unknown) => callSafely(() => onError?.(error)))
      .finally(() => this.#recovering.delete(sessionId));
  };
}
