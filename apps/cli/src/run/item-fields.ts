import type { EventBody } from "@harnesskit/thread-client";
import type { Channel } from "@harnesskit/wire";

/** Items that were told of and are not shown yet. */
const maxItems = 10_000;

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keeps what items say of their judgement, which the client's schema does not know and leaves out. */
export class ItemFields {
  readonly #judgements = new Map<string, unknown>();

  /** The channel, with a look at what comes by it. */
  watch<Context>(channel: Channel<Context>): Channel<Context> {
    return {
      start: (handlers) =>
        channel.start({
          ...handlers,
          message: (message) => {
            this.#look(message);
            handlers.message(message);
          },
        }),
      send: (message) => channel.send(message),
      close: (error) => channel.close(error),
      closed: channel.closed,
      signal: channel.signal,
      context: channel.context,
    };
  }

  /** The event with what its item said. */
  restore(event: EventBody): EventBody {
    if (event.type !== "item.started" && event.type !== "item.completed") return event;
    const { itemId, item } = event.data;
    const judgement = this.#judgements.get(itemId);
    if (judgement === undefined || !item.data) return event;
    if (event.type === "item.completed") this.#judgements.delete(itemId);
    const data: object = { ...item.data, judgement };
    const whole = { ...item, data } as typeof item;
    return { ...event, data: { ...event.data, item: whole } };
  }

  #look(message: unknown): void {
    if (!isFields(message)) return;
    const { params, result } = message;
    if (isFields(params)) this.#keep(params);
    const events = isFields(result) ? result.events : undefined;
    if (Array.isArray(events)) for (const event of events) if (isFields(event)) this.#keep(event.data);
  }

  #keep(told: unknown): void {
    if (!isFields(told) || !isFields(told.item) || !isFields(told.item.data)) return;
    const { itemId } = told;
    const { judgement } = told.item.data;
    if (typeof itemId !== "string" || judgement === undefined) return;
    this.#judgements.set(itemId, judgement);
    for (const oldest of this.#judgements.keys()) {
      if (this.#judgements.size <= maxItems) return;
      this.#judgements.delete(oldest);
    }
  }
}
