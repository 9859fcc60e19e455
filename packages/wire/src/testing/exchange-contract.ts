import type { Exchange } from "../exchange.ts";
import {
  type ContractCase,
  ContractError,
  checkSame,
  checkThat,
  settled,
  toCases,
} from "./contract-error.ts";

/** A message for the exchange and what has to come back. */
export interface ExchangeSample {
  readonly message: unknown;
  readonly reply: unknown;
}

export interface ExchangeContractOptions<Context> {
  /** The core's name; it begins each case's name. */
  readonly name: string;
  /** Makes a new exchange for each case. */
  readonly makeExchange: () => Exchange<Context> | Promise<Exchange<Context>>;
  readonly context: Context;
  /** Messages that want a reply, with it; at least two, with different replies. */
  readonly answered: readonly ExchangeSample[];
  /** Messages that want none. Leave it out where every message is answered. */
  readonly unanswered?: readonly unknown[] | undefined;
  /** How long a case waits for one reply. @default 5000 */
  readonly timeoutMs?: number | undefined;
}

/** What no core should choke on. */
const hostile: readonly unknown[] = [
  ...[undefined, null, 0, "", "text", true, [], [[]], {}],
  JSON.parse('{"__proto__":{"polluted":true},"constructor":null}'),
  { id: {}, method: 1, params: "none", jsonrpc: null },
  JSON.parse('{"toString":null,"then":null}'),
];

/** The cases that every {@link Exchange} passes. */
export const exchangeContract = <Context>(options: ExchangeContractOptions<Context>): ContractCase[] => {
  const { name, makeExchange, context, unanswered = [], timeoutMs = 5000 } = options;
  /** A copy for each use: an exchange that changes its message must not change the sample. */
  const samples = () => structuredClone(options.answered);

  type Handle = (message: unknown) => Promise<unknown>;
  const handleWith =
    (exchange: Exchange<Context>): Handle =>
    (message) => {
      try {
        return settled(exchange.handle(message, context), "handle", timeoutMs);
      } catch (cause) {
        throw new ContractError("handle threw", { cause });
      }
    };

  return toCases<Handle>(
    name,
    {
      async "a message that wants a reply gets exactly it"(handle) {
        checkThat(samples().length >= 2, "the contract needs two messages that are answered");
        for (const { message, reply } of samples()) checkSame(await handle(message), reply, "the reply");
      },

      async "a message that wants no reply gets none"(handle) {
        for (const message of unanswered) {
          checkThat((await handle(message)) === undefined, "a message that wants no reply got one");
        }
      },

      async "messages at the same time each get their own reply"(handle) {
        const many = Array.from({ length: 20 }, samples).flat();
        const replies = await Promise.all(many.map(({ message }) => handle(message)));
        const expected = many.map(({ reply }) => reply);
        checkSame(replies, expected, "the replies");
      },

      async "no message makes it throw or reject, and it answers on"(handle) {
        for (const message of hostile) {
          const reply = await handle(message);
          checkThat(reply === undefined || JSON.stringify(reply) !== undefined, "a reply is not JSON");
        }
        const { polluted } = {} as { polluted?: unknown };
        checkThat(polluted === undefined, "a message changed Object.prototype");
        for (const { message, reply } of samples().slice(0, 1)) {
          checkSame(await handle(message), reply, "the reply after bad messages");
        }
      },

      async "a reply is JSON and the message is left as it was"(handle) {
        for (const { message } of samples()) {
          const before = JSON.stringify(message);
          const reply = await handle(message);
          checkSame(
            JSON.parse(JSON.stringify(reply) ?? "null"),
            reply,
            "the reply after its way over a wire",
          );
          checkSame(JSON.stringify(message), before, "the message after it was handled");
        }
      },
    },
    async (body) => body(handleWith(await makeExchange())),
  );
};
