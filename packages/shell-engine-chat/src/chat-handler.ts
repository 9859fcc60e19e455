import type { ShellCall, ShellReply } from "@harnesskit/shell-engine";
import { digest } from "@harnesskit/wire";
import type { ChatShellOptions } from "./chat-shell-options.ts";
import { RequestTurn } from "./request-turn.ts";
import { ShownCounts } from "./shown-counts.ts";
import { harnessFailure } from "./turn-failure.ts";

const maxSessionIdLength = 512;

const keyOf = async ({ conversation: { key } }: ShellCall<never>): Promise<string> =>
  key.length <= maxSessionIdLength ? key : digest(key);

/** Answers the requests of shells by turns of a chat harness. */
export class ChatHandler<Context> {
  readonly #options: ChatShellOptions<Context>;
  readonly #shown = new ShownCounts();
  /** Resumed turns whose ends a request is about to tell, by how many requests: no other one tells them. */
  readonly #telling = new Map<string, number>();
  readonly #shownEnds = new ShownCounts();

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
    };
    const turn = new RequestTurn(shared, call, sessionId);
    const { run, approval, intent = "" } = call;
    try {
      if (run && approval) await turn.answer(run, approval);
      else if (intent.trim() !== "") await turn.say();
      return await turn.reply();
    } catch (error) {
      throw harnessFailure(error);
    } finally {
      turn.end();
    }
  };
}
