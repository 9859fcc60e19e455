import type {
  HubMethodParams,
  HubSessionState,
  RowContent,
  TimelineDetail,
  TimelineFilter,
  TimelinePage,
  TimelineRow,
} from "@harnesskit/protocol/hub";

/** What a row holds beside its line in lists: redacted, and bounded by the hub. */
export interface StoredContent extends Omit<TimelineDetail, "row" | "approval" | "input" | "metadata"> {
  /** The event that opened the row, without its secrets. */
  readonly event?: RowContent | undefined;
}

/** A row before the store numbers it. */
export type NewRow = Omit<TimelineRow, "id" | "seq" | "changedAtMs">;

/** A row with its content. */
export interface StoredRow {
  readonly row: TimelineRow;
  readonly content: StoredContent;
}

/** Finds a row: the newest open one with a key, or the newest one of an approval. */
export type RowSelector = { readonly key: string } | { readonly approvalId: string };

/** A change of the timeline. Functions in it are pure, and may be called more than once. */
export type TimelineChange =
  /** A new row. `key` finds it while it is open. */
  | {
      readonly type: "add";
      readonly key?: string | undefined;
      readonly row: NewRow;
      readonly content: StoredContent;
    }
  /**
   * The row found is replaced; one that is not there is added if `orAdd` says so. `key` gives the row another key.
   */
  | {
      readonly type: "change";
      readonly find: RowSelector;
      readonly key?: string | undefined;
      /** Undefined: the row stays as it is. */
      readonly apply: (stored: StoredRow) => { row?: Partial<NewRow>; content?: StoredContent } | undefined;
      readonly orAdd?:
        | { readonly key?: string; readonly row: NewRow; readonly content: StoredContent }
        | undefined;
      /** The row stays with the store that wrote it last: for a change that several hubs notice. */
      readonly keepsWriter?: true;
    }
  /** Running rows become `unknown`: of one session, or all whose last change is before a time. */
  | {
      readonly type: "lose";
      /**
       * `own`: only rows that this store has written last; `gone`: only rows of stores that are not open any more, as after a kill.
       * @default rows of any store
       */
      readonly writer?: "own" | "gone";
      readonly of?: { readonly agent: string; readonly session: string };
      readonly beforeMs?: number;
      readonly outcome: string;
    };

/** What was counted of an agent's session. */
export type SessionTally = Readonly<HubSessionState>;

/** Which sessions, those seen last first. */
export type SessionsRequest = NonNullable<HubMethodParams<"sessions.list">>;

/** What a rule has decided. */
export interface RuleTally {
  readonly kind: string;
  readonly name: string;
  readonly decision: string;
  readonly hits: number;
  readonly lastHitAtMs: number;
}

/** Which rows `page` returns. */
export interface PageRequest {
  /** Only rows that match all its fields. @default all rows */
  readonly filter?: TimelineFilter | undefined;
  /** Only rows with a smaller id: `nextBeforeId` of the page before. @default the newest rows */
  readonly beforeId?: number | undefined;
  /** The most rows of a page. @default `maxPage` of the limits */
  readonly limit?: number | undefined;
}

/**
 * Where rows are kept. A row is open while it is `waiting`, `running`, `unknown` or `noted`: only then its key finds it. Calls reject with
 * `store_closed` after `close`; a store in a file or a database also with its errors.
 */
export interface TimelineStore {
  /**
   * Applies changes in their order, in one transaction, and returns the rows that they made or changed, as they are then. They are
   * kept, also if the process is killed, when it resolves.
   */
  write(changes: readonly TimelineChange[]): Promise<readonly TimelineRow[]>;
  /** Resolves with a row and its content; undefined for an unknown id. */
  get(id: number): Promise<StoredRow | undefined>;
  /** The newest rows first. Looks at a bounded number of rows. */
  page(request?: PageRequest): Promise<TimelinePage>;
  /** Rows whose last change has a greater number, in the order of the changes. */
  changes(afterSeq: number, limit?: number): Promise<readonly TimelineRow[]>;
  /** Rows with their content, the oldest first, of a time and of a session or all. */
  read(range: {
    readonly of?: { readonly agent: string; readonly session: string; readonly turn?: string | undefined };
    readonly sinceMs?: number | undefined;
    readonly untilMs?: number | undefined;
    readonly afterId: number;
    readonly limit: number;
  }): Promise<readonly StoredRow[]>;
  /** Those seen last first. */
  sessions(request?: SessionsRequest): Promise<readonly SessionTally[]>;
  /** Resolves with what each rule has decided. */
  rules(): Promise<readonly RuleTally[]>;
  /**
   * Calls `listener` soon after other processes have written; returns what ends that. It may call too often, and it may miss a write:
   * who watches also asks for changes each second. Left out by a store that other processes do not write.
   */
  onChange?(listener: () => void): () => void;
  /** Removes rows beyond the limits, a bounded number per call. Resolves with how many were removed. */
  prune(): Promise<number>;
  /** Writes what waits, and closes the store. Idempotent. */
  close(): Promise<void>;
}
