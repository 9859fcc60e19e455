import { defaultRestartPolicy, type RestartPolicy } from "@harnesskit/protocol/runtime";
import { backoffDelayMs } from "@harnesskit/wire/time";

/** How an agent is started again, every field with its value; `defaultRestartPolicy` has the defaults. Times in milliseconds. */
export interface RestartSettings {
  readonly policy: "never" | "on-failure" | "always";
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  /** Restarts within `burstWindowMs` after which the agent is given up. */
  readonly maxBurst: number;
  readonly burstWindowMs: number;
  /** Time of serving after which the wait starts small again. */
  readonly stableAfterMs: number;
}

/** The settings of an agent: what the core's owner says holds before what the manifest says. */
export const restartSettings = (
  owner: RestartPolicy | undefined,
  manifest: RestartPolicy | undefined,
): RestartSettings => {
  const pick = <Field extends keyof typeof defaultRestartPolicy>(field: Field) =>
    owner?.[field] ?? manifest?.[field] ?? defaultRestartPolicy[field];
  const maxBackoffMs = pick("max_backoff_ms");
  return {
    policy: pick("policy"),
    initialBackoffMs: Math.min(pick("initial_backoff_ms"), maxBackoffMs),
    maxBackoffMs,
    maxBurst: pick("max_burst"),
    burstWindowMs: pick("burst_window_ms"),
    stableAfterMs: pick("stable_after_ms"),
  };
};

/**
 * The wait before the next restart: doubled with each failure in a row, at most `maxBackoffMs`, and of that a random
 * part between a half and the whole, so that agents that fell together do not rise together.
 *
 * @param failures How many restarts came before this one without a stable run between.
 * @param random From 0 to 1.
 */
export const backoffMs = (
  { initialBackoffMs, maxBackoffMs }: RestartSettings,
  failures: number,
  random: number,
): number =>
  Math.round(
    backoffDelayMs(failures + 1, {
      initialDelayMs: initialBackoffMs,
      maxDelayMs: maxBackoffMs,
      random: () => random,
    }),
  );
