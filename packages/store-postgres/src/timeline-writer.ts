import { StoreError } from "@harnesskit/graph";
import { randomId } from "@harnesskit/wire";
import type { Database } from "./database.ts";
import { toStoreError } from "./failures.ts";

/**
 * Says that a store of the timeline is open, so that the rows which it has written last are not taken for those of a store that is lost.
 * A store that was stopped for longer counts as lost until it goes on.
 */
export class TimelineWriter {
  readonly id = randomId("writer");
  readonly #database: Database;
  #cancel = () => {};
  #isClosed = false;

  private constructor(database: Database) {
    this.#database = database;
  }

  static async open(database: Database): Promise<TimelineWriter> {
    const writer = new TimelineWriter(database);
    await writer.#renew();
    writer.#schedule();
    return writer;
  }

  async #renew(): Promise<void> {
    const { timelineLeaseMs } = this.#database.options.limits;
    await this.#database.query(
      `WITH old AS (DELETE FROM store.timeline_writers WHERE until < clock_timestamp() - interval '1 day')
       INSERT INTO store.timeline_writers (id, until)
       VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond')
       ON CONFLICT (id) DO UPDATE SET until = excluded.until`,
      ...[this.id, timelineLeaseMs],
    );
  }

  #schedule(): void {
    const { clock, limits, onError } = this.#database.options;
    if (this.#isClosed) return;
    this.#cancel = clock.after(limits.timelineLeaseMs / 3, () => {
      this.#renew()
        .catch((error: unknown) => this.#isClosed || onError(toStoreError(error)))
        .finally(() => this.#schedule());
    });
  }

  /** From then on its rows are those of a store that is gone. Never rejects: its time ends by itself. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancel();
    await this.#database
      .query("DELETE FROM store.timeline_writers WHERE id = $1", this.id)
      .catch((error: unknown) => {
        if (!StoreError.isInstance(error)) throw error;
      });
  }
}
