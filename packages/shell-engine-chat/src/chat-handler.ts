import type { ShellCall, ShellReply } from "@harnesskit/shell-engine";
import { digest, quietly } from "@harnesskit/wire";
import type { ChatShellOptions } from "./chat-shell-options.ts";
import { RequestTurn, saysSomething } from "./request-turn.ts";
import { ShownCounts } from "./shown-counts.ts";
import { Telling } from "./telling.ts";
import { harnessFailure } from "./turn-failure.ts";

const maxSessionIdLength = 512;

const keyOf = async ({ conversation: { key } }: ShellCall<never>): Promise<string> =>
  key.length <= maxSessionIdLength ? key : digest(key);

/** Answers the requests of shells by turns of a chat harness. */
export class ChatHandler<Context> {
  readonly #options: ChatShellOptions<Context>;
  readonly #shown = new ShownCounts();
  /** What a request is about to tell, or has told: no other one tells it. */
  readonly #telling = new Telling();
  readonly #shownEnds = new ShownCounts();
  /** Sessions whose answers are gone on with. */
  readonly #recovering = new Set<string>();

  constructor(options: ChatShellOptions<Context>) {
    this.#options = options;
  }

  readonly handle = async (call: ShellCall<Context>): Promise<ShellReply> => {
    const { sessionIdOf = keyOf } = this.#options;
    const sessionId = await sessionIdOf(call as ShellCall<never>);
    const shared = {
      options: this.#options,
      shown: this.#shown,
      telling: this.#telling,
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

  /** Notes that ends were told. Until that is stored no request tells them again. */
  async acknowledge(invocationIds: Iterable<string>): Promise<void> {
    const note = async (id: string) => {
      try {
        await this.#options.harness.acknowledge(id);
      } finally {
        this.#telling.end(id);
      }
    };
    await Promise.all([...invocationIds].map(note));
  }

  /** Says that a response tells these ends; `acknowledge` has to follow. */
  tell(invocationIds: Iterable<string>): void {
    for (const id of invocationIds) this.#telling.begin(id);
  }

  readonly #recover = (sessionId: string): void => {
    const { harness, onError } = this.#options;
    if (this.#recovering.has(sessionId)) return;
    this.#recovering.add(sessionId);
    harness
      .recover({ sessionId })
      .catch((error: unknown) => quietly(() => onError?.(error)))
      .finally(() => this.#recovering.delete(sessionId));
  };
}
