import { watch } from "node:fs";
import { basename, dirname } from "node:path";
import { type Clock, quietly, systemClock } from "@harnesskit/wire";
import type { ParsePolicyOptions } from "../parse-policy.ts";
import { isSamePolicy, type Policy } from "../policy.ts";
import type { PolicyHarness } from "../policy-harness.ts";
import { loadPolicy } from "./load-policy.ts";

export interface WatchPolicyOptions extends Omit<ParsePolicyOptions, "file"> {
  /** Told when another policy is in force; what it throws is ignored. @default nobody */
  readonly onReload?: (policy: Policy) => void;
  /**
   * Told when a changed file is refused, and the former policy stays in force; what it throws is ignored.
   * @default the harness's `onError` alone
   */
  readonly onRefused?: (error: unknown) => void;
  /** How long a file must have been still before it is read, in milliseconds. @default 50 */
  readonly settleMs?: number;
  /** How often the file is read though nobody said that it changed, in milliseconds; 0 for never. @default 5000 */
  readonly pollMs?: number;
  /** @default the real time */
  readonly clock?: Clock;
}

/** A file that is watched. */
export interface PolicyWatch {
  /** Reads the file now, and settles when what it holds is in force or refused. Never rejects. */
  reload(): Promise<void>;
  /** Stops; a file that is being read then is not put in force any more. */
  close(): void;
}

/**
 * Keeps a harness at what a file says: a file that changes is read and put in force at once, one that is broken or gone
 * is refused with line and column. The folder is watched, as editors put another file in the place of the old; where the
 * system does not tell, the file is read every `pollMs`.
 */
export const watchPolicy = (
  harness: PolicyHarness,
  file: string,
  options: WatchPolicyOptions = {},
): PolicyWatch => {
  const { onReload, onRefused, settleMs = 50, pollMs = 5000, clock = systemClock, ...parse } = options;
  let isClosed = false;
  let stopSettling = (): void => undefined;
  let stopPolling = (): void => undefined;
  let running: Promise<void> | undefined;
  let isStale = false;

  const load = async (): Promise<Policy | { readonly error: unknown }> => {
    try {
      return await loadPolicy(file, parse);
    } catch (error) {
      return { error };
    }
  };

  let lastRefusal = "";
  const readOnce = async (): Promise<void> => {
    const loaded = await load();
    if (isClosed) return;
    if ("error" in loaded) {
      // A poll tells of a broken file once, not every time.
      const refusal = String(loaded.error);
      if (refusal === lastRefusal) return;
      lastRefusal = refusal;
      harness.tryReplace(() => {
        throw loaded.error;
      });
      quietly(() => onRefused?.(loaded.error));
      return;
    }
    lastRefusal = "";
    if (isSamePolicy(harness.policy, loaded)) return;
    harness.replace(loaded);
    quietly(() => onReload?.(loaded));
  };

  // One read at a time, in order: what was read later is what holds.
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

  const settle = (): void => {
    stopSettling();
    if (!isClosed) stopSettling = clock.after(settleMs, () => void reload());
  };
  const poll = (): void => {
    if (isClosed || pollMs === 0) return;
    stopPolling = clock.after(pollMs, () => void reload().then(poll));
  };

  const name = basename(file);
  const watcher = watch(dirname(file), { persistent: false }, (_, changed) => {
    if (changed === null || changed === name) settle();
  });
  // A folder that is gone is polled.
  watcher.on("error", () => watcher.close());
  poll();
  return {
    reload,
    close() {
      isClosed = true;
      stopSettling();
      stopPolling();
      watcher.close();
    },
  };
};
