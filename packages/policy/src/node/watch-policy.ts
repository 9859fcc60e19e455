import { watch } from "node:fs";
import { basename, dirname } from "node:path";
import { type Clock, callSafely, createDeferred, systemClock } from "@harnesskit/wire";
import { checkWatchPolicyOptions } from "../option-names.ts";
import type { ParsePolicyOptions } from "../parse-policy.ts";
import type { Policy } from "../policy.ts";
import type { PolicyHarness } from "../policy-harness.ts";
import { loadPolicy } from "./load-policy.ts";

export interface WatchPolicyOptions extends Omit<ParsePolicyOptions, "file"> {
  /** Receives each policy that comes into force; what it throws is ignored. @default no report */
  readonly onReload?: ((policy: Policy) => void) | undefined;
  /**
   * Receives the error of a changed file that is refused, in addition to the harness's `onError`; the former policy stays in
   * force. What it throws is ignored. @default no report
   */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** How long a file must be unchanged before it is read, in milliseconds. @default 50 */
  readonly settleMs?: number | undefined;
  /** How often the file is read without a report of a change, in milliseconds; 0 for never. @default 5000 */
  readonly pollMs?: number | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}

/** A file that is watched. */
export interface PolicyWatch extends AsyncDisposable {
  /** Resolves when the watch is closed. */
  readonly closed: Promise<void>;
  /** Reads the file now, and resolves when its content is in force or refused. Never rejects. */
  reload(): Promise<void>;
  /** Stops; a file that is being read does not come into force. */
  close(): Promise<void>;
}

/**
 * Keeps a harness at the content of a file: a changed file comes into force at once, a broken or missing one is refused with
 * line and column. The folder is watched, because editors replace the file; where the system reports no changes, the file is
 * read every `pollMs`.
 */
export const watchPolicy = (
  harness: PolicyHarness,
  file: string,
  options: WatchPolicyOptions = {},
): PolicyWatch => {
  checkWatchPolicyOptions(options);
  const { onReload, onError, settleMs = 50, pollMs = 5000, clock = systemClock, ...parse } = options;
  const closed = createDeferred<void>();
  let isClosed = false;
  let stopSettling = (): void => undefined;
  let stopPolling = (): void => undefined;
  let running: Promise<void> | undefined;
  let isStale = false;
  let lastRefusal = "";

  const refuse = (error: unknown): void => {
    // Polling reports a broken file once.
    if (String(error) === lastRefusal) return;
    lastRefusal = String(error);
    harness.tryReplace(() => {
      throw error;
    });
    callSafely(() => onError?.(error));
  };

  const readOnce = async (): Promise<void> => {
    const loaded = await loadPolicy(file, parse).catch((error: unknown) => ({ error }));
    if (isClosed) return;
    if ("error" in loaded) return refuse(loaded.error);
    lastRefusal = "";
    if (harness.policy.text === loaded.text) return;
    harness.replace(loaded);
    callSafely(() => onReload?.(loaded));
  };

  // One read at a time, so the last read is the one in force.
  const reload = (): Promise<void> => {
    isStale = true;
    running ??= (async () => {
      while (isStale && !isClosed) {
        isStale = false;
        await readOnce();
      }
    })().finally(() => {
      running = undefined;
    });
    return running;
  };

  const poll = (): void => {
    if (isClosed || pollMs === 0) return;
    stopPolling = clock.after(pollMs, () => void reload().then(poll));
  };

  const name = basename(file);
  const watcher = watch(dirname(file), { persistent: false }, (_, changed) => {
    if (isClosed || (changed !== null && changed !== name)) return;
    stopSettling();
    stopSettling = clock.after(settleMs, () => void reload());
  });
  // A folder that was removed is polled.
  watcher.on("error", () => watcher.close());
  poll();

  const close = (): Promise<void> => {
    isClosed = true;
    stopSettling();
    stopPolling();
    watcher.close();
    closed.resolve();
    return closed.promise;
  };
  return { closed: closed.promise, reload, close, [Symbol.asyncDispose]: close };
};
