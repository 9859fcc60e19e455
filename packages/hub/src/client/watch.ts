import { createDeferred, HarnessError } from "@harnesskit/wire";
import type { ClientSession } from "@harnesskit/wire/rpc";
import { callHub, type HubConnection, type WatchEvent } from "./hub-connection.ts";
import { HubError } from "./hub-error.ts";

export interface WatchPlan<Item> {
  /** Starts the watch over a connection, after a number; without one, for only what comes. */
  start(
    connection: HubConnection,
    after: { readonly afterSeq?: number },
  ): Promise<{ watchId: string; afterSeq: number }>;
  /** What an event brings, and the number that it reaches. */
  read(event: WatchEvent): { readonly item: Item; readonly seq: number } | undefined;
}

/** Events that wait for a slow reader; then the watch begins again after the last one that was read. */
const maxWaiting = 1000;

/**
 * The items of a watch over one connection after the other: each begins where the last one ended, so that nothing is missed. Ends when
 * the signal aborts or the session is closed; rejects with the hub's refusal.
 */
export async function* follow<Item, I>(
  session: ClientSession<HubConnection, I>,
  { afterSeq, signal }: { readonly afterSeq?: number | undefined; readonly signal?: AbortSignal | undefined },
  plan: WatchPlan<Item>,
): AsyncGenerator<Item, void, undefined> {
  let last = afterSeq;
  const isOver = () => signal?.aborted === true || session.state === "closed";
  while (!isOver()) {
    let stop = () => {};
    let connection: HubConnection | undefined;
    try {
      ({ connection } = await session.whenReady({ signal }));
      const used = connection;
      const started = await plan.start(connection, last === undefined ? {} : { afterSeq: last });
      last = started.afterSeq;
      session.confirm(connection);
      const waiting: WatchEvent[] = [];
      let wake = createDeferred<void>();
      let isEnded = false;
      const end = () => {
        isEnded = true;
        wake.resolve();
      };
      signal?.addEventListener("abort", end);
      if (isOver()) end();
      const unlisten = connection.listen(
        started.watchId,
        (event) => {
          if (waiting.length < maxWaiting) waiting.push(event);
          else isEnded = true;
          wake.resolve();
        },
        end,
      );
      stop = () => {
        unlisten();
        signal?.removeEventListener("abort", end);
        callHub(used, "watch.cancel", { watchId: started.watchId }).catch(() => {});
      };
      for (;;) {
        for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) {
          if (event.name === "watch.ended")
            throw new HubError(event.params.reason, "the hub ended the watch", {}, undefined);
          const read = plan.read(event);
          if (read === undefined) continue;
          last = read.seq;
          yield read.item;
          if (isOver()) return;
        }
        if (isEnded) break;
        await wake.promise;
        wake = createDeferred<void>();
      }
    } catch (error) {
      if (isOver()) return;
      // A lost connection is replaced; the session says so where it cannot be.
      const isLost =
        HarnessError.isInstance(error) && error.code === "connection_closed" && session.state !== "lost";
      if (!isLost) throw error;
      // A connection whose other side sends no more refuses calls before it is closed: it would be tried without a pause.
      if (connection !== undefined) session.drop(connection, error);
      await session.whenReady({ signal }).catch((cause: unknown) => {
        if (!isOver()) throw cause;
      });
    } finally {
      stop();
    }
  }
}
