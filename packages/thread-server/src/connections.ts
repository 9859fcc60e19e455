import type { Event, EventBody } from "@harnesskit/protocol/threads";
import { type Channel, HarnessError, type Peer } from "@harnesskit/wire";

/** One client. */
export interface Connection {
  /** Who it says it is, or a name made up for it: what `resolvedBy` shows. */
  label: string;
  readonly peer: Peer;
  readonly channel: Channel;
}

/** The clients that are connected: each hears of every event of every thread. */
export class Connections {
  readonly #all = new Set<Connection>();

  constructor(readonly onError: (error: unknown) => void) {}

  add(connection: Connection): void {
    this.#all.add(connection);
    connection.peer.signal.addEventListener("abort", () => this.#all.delete(connection), { once: true });
  }

  /** Tells everybody. A client that reads too slowly to keep up is closed; the others notice nothing. */
  notify({ type, data }: Event | EventBody): void {
    for (const connection of this.#all) {
      connection.peer.notify(type, data).catch((error: unknown) => {
        if (HarnessError.isInstance(error) && error.code === "connection_closed") return;
        this.onError(error);
        void connection.channel.close(HarnessError.isInstance(error) ? error : undefined);
      });
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map(({ peer }) => peer.close()));
  }
}
