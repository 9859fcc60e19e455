import type { Exchange } from "../exchange.ts";
import type { ContractCase } from "./channel-contract.ts";
import { ContractError, demandSame, settled } from "./contract-error.ts";

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
  readonly unanswered?: readonly unknown[];
  /** How long a case waits for one reply. @default 5000 */
  readonly timeoutMs?: number;
}

/** What no core should choke on. */
const hostile: readonly unknown[] = [
  undefined,
  null,
  0,
  "",
  "text",
  true,
  [],
  [[]],
  {},
  JSON.parse('{"__proto__":{"polluted":true},"constructor":null}'),
  { id: {}, method: 1, params: "none", jsonrpc: null },
  JSON.parse('{"toString":null,"then":null}'),
];

/** The cases that every {@link Exchange} passes. */
export const exchangeContract = <Context>(options: ExchangeContractOptions<Context>): ContractCase[] => {
  const { name, makeExchange, context, unanswered = [], timeoutMs = 5000 } = options;
  /** A copy for each use: an exchange that changes its message must not change the sample. */
  const answeredAnew = () => structuredClone(options.answered);

  const handle = async (exchange: Exchange<Context>, message: unknown): Promise<unknown> => {
    let handling: Promise<unknown>;
    try {
      handling = exchange.handle(message, context);
    } catch (cause) {
      throw new ContractError("handle threw", { cause });
    }
    const checked = handling.catch((cause: unknown) => {
      throw new ContractError("handle rejected", { cause });
    });
    return settled(checked, "a reply", timeoutMs);
  };

  const named = (title: string, run: (exchange: Exchange<Context>) => Promise<void>): ContractCase => ({
    name: `${name}: ${title}`,
    run: async () => run(await makeExchange()),
  });

  return [
    named("a message that wants a reply gets exactly it", async (exchange) => {
      const answered = answeredAnew();
      if (answered.length < 2) throw new ContractError("the contract needs two messages that are answered");
      for (const { message, reply } of answered)
        demandSame(await handle(exchange, message), reply, "the reply");
    }),
    named("a message that wants no reply gets none", async (exchange) => {
      for (const message of unanswered) {
        const reply = await handle(exchange, message);
        if (reply !== undefined) throw new ContractError("a message that wants no reply got one");
      }
    }),
    named("messages at the same time each get their own reply", async (exchange) => {
      const samples = Array.from({ length: 20 }, answeredAnew).flat();
      const replies = await Promise.all(samples.map(({ message }) => handle(exchange, message)));
      demandSame(
        replies,
        samples.map(({ reply }) => reply),
        "the replies",
      );
    }),
    named("no message makes it throw or reject, and it answers on", async (exchange) => {
      for (const message of hostile) {
        const reply = await handle(exchange, message);
        if (reply !== undefined && JSON.stringify(reply) === undefined)
          throw new ContractError("a reply is not JSON");
      }
      if (({} as { polluted?: unknown }).polluted !== undefined)
        throw new ContractError("a message changed Object.prototype");
      const [first] = answeredAnew();
      if (first)
        demandSame(await handle(exchange, first.message), first.reply, "the reply after bad messages");
    }),
    named("a reply is JSON and the message is left as it was", async (exchange) => {
      for (const { message } of answeredAnew()) {
        const before = JSON.stringify(message);
        const reply = await handle(exchange, message);
        demandSame(JSON.parse(JSON.stringify(reply) ?? "null"), reply, "the reply after its way over a wire");
        demandSame(JSON.stringify(message), before, "the message after it was handled");
      }
    }),
  ];
};
