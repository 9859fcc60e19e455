import type { RestartPolicy } from "@harnesskit/protocol/runtime";

/** How an agent is started again, every field with its value. Times in milliseconds. */
export interface RestartSettings {
  /** @default "on-failure" */
  readonly policy: "never" | "on-failure" | "always";
  /** @default 200 */
  readonly initialBackoffMs: number;
  /** @default 30000 */
  readonly maxBackoffMs: number;
  /** Restarts within `burstWindowMs` after which the agent is given up. @default 5 */
  readonly maxBurst: number;
  /** @default 60000 */
  readonly burstWindowMs: number;
  /** Time of serving after which the wait starts small again. @default 30000 */
  readonly stableAfterMs: number;
}

/** The settings of an agent: what the core's owner says holds before what the manifest says. */
export const restartSettings = (
  owner: RestartPolicy | undefined,
  manifest: RestartPolicy | undefined,
): RestartSettings => {
  const initialBackoffMs = owner?.initial_backoff_ms ?? manifest?.initial_backoff_ms ?? 200;
  const maxBackoffMs = owner?.max_backoff_ms ?? manifest?.max_backoff_ms ?? 30_000;
  return {
    policy: owner?.policy ?? manifest?.policy ?? "on-failure",
    initialBackoffMs: Math.min(initialBackoffMs, maxBackoffMs),
    maxBackoffMs,
    maxBurst: owner?.max_burst ?? manifest?.max_burst ?? 5,
    burstWindowMs: owner?.burst_window_ms ?? manifest?.burst_window_ms ?? 60_000,
    stableAfterMs: owner?.stable_after_ms ?? manifest?.stable_after_ms ?? 30_000,
  };
};

/**
 * The wait before the next restart: doubled with each failure in a row, at most `maxBackoffMs`, and of that a random
 * part between a half and the whole, so that agents that fell together do not rise together.
 *
 * @param failures How many restarts came before this one without a stable run between.
 * @param random From 0 to 1.
 */
export const backoffMs = (settings: RestartSettings, failures: number, random: number): number => {
  const whole = Math.min(settings.maxBackoffMs, settings.initialBackoffMs * 2 ** Math.min(failures, 52));
  return Math.round(whole * (0.5 + random / 2));
};
