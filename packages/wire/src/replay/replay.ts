import { BoundedMap } from "../bounded.ts";
import { checkNumber } from "../define-limits.ts";
import { defineOptions } from "../define-options.ts";
import { isContextOverflow } from "./context-overflow.ts";
import { fitMessages, lengthOfMessages } from "./fit-messages.ts";
import { joinRoles, mendMessages } from "./mend-messages.ts";
import { modelName } from "./own-metadata.ts";
import type { ReplayMessage, ReplayModel } from "./replayed-message.ts";

export interface ReplayOptions {
  /** Characters of a conversation that a model is sent, about; a file counts as 6,000. */
  readonly maxContextLength: number;
}

const checkReplayOptions = defineOptions<ReplayOptions>("createReplay", { maxContextLength: true });

/**
 * Sends a conversation as any provider takes it. Rejects as `send` does; only where the provider says that the request is longer than the
 * model's context is `send` called again, with less.
 */
export type Replay = <Message extends ReplayMessage, Result>(
  messages: readonly Message[],
  model: ReplayModel,
  send: (messages: Message[]) => Promise<Result>,
) => Promise<Result>;

/** Models whose context is known by what they refused. */
const maxModels = 100;
/** How often one request is repeated with less. */
const maxAttempts = 10;
/** What is sent of a request that was too long. */
const shrink = 0.7;

/**
 * What stands between a stored conversation and a model. The store keeps what was said; what is sent is mended: tool names of
 * `[A-Za-z0-9_-]{1,64}`, ids of our own, each call followed by its result, well-formed strings, no empty text, signatures only for the
 * provider that made them. It is cut to `maxContextLength`, or to less for a model whose provider has refused less: older
 * tool outputs first, with marks and a note.
 *
 * Throws `invalid_argument` for a `maxContextLength` that is not a whole number of at least 1.
 */
export const createReplay = (options: ReplayOptions): Replay => {
  const maxContextLength = checkNumber("maxContextLength", checkReplayOptions(options).maxContextLength);
  /** By the models' names. */
  const known = new BoundedMap<string, number>({ maxSize: maxModels });
  return async <Message extends ReplayMessage, Result>(
    messages: readonly Message[],
    model: ReplayModel,
    send: (messages: Message[]) => Promise<Result>,
  ): Promise<Result> => {
    const name = modelName(model);
    const mended = mendMessages(messages, model);
    let sent = fitMessages(mended, known.get(name) ?? maxContextLength);
    for (let attempt = 1; ; attempt++) {
      try {
        // Each message is one that was given, or of a form that every such type has.
        return await send(joinRoles(sent) as unknown as Message[]);
      } catch (error) {
        const length = lengthOfMessages(sent);
        const less = Math.max(1, Math.floor(length * shrink));
        const shorter = fitMessages(mended, less);
        const isOver = isContextOverflow(error) && lengthOfMessages(shorter) < length;
        if (!isOver || attempt >= maxAttempts) throw error;
        known.set(name, less);
        sent = shorter;
      }
    }
  };
};
