import { HarnessError } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { type Absence, startHint, toAbsence } from "./absent-server.ts";
import { say } from "./connection-watch.ts";

/** A server that others use as well, before it is known to be there. */
export interface SharedServer {
  readonly endpoint: string;
  /** How long one that is lost is tried again; 0: not at all. */
  readonly retrySeconds: number;
  /** One that is not there yet is waited for, too. */
  readonly waitsForStart: boolean;
}

/** How long a server is tried again where the user did not say. */
const defaultRetrySeconds = 60;

/** The server of an endpoint. Who says for how long it is tried again, also wants one to be waited for. */
export const sharedServer = (endpoint: string, retrySeconds: number | undefined): SharedServer => ({
  endpoint,
  retrySeconds: retrySeconds ?? defaultRetrySeconds,
  waitsForStart: retrySeconds !== undefined,
});

const firstDelayMs = 200;
const maxDelayMs = 2_000;

/**
 * The first connection to a server, which is tried again as a lost one is. `connect` is to give up when its signal
 * aborts. Rejects with a `CliError` `unavailable` where no server is there or comes in time, `cancelled` where the
 * signal ends the waiting, and with what `connect` rejects with for any other reason.
 */
export const firstContact = async <T>(
  connect: (signal: AbortSignal) => Promise<T>,
  { endpoint, retrySeconds, waitsForStart }: SharedServer,
  signal: AbortSignal,
): Promise<T> => {
  const endsAtMs = performance.now() + retrySeconds * 1000;
  const leftMs = () => Math.max(0, endsAtMs - performance.now());
  let isAgain = false;
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(maxDelayMs, delayMs * 2)) {
    try {
      if (!isAgain) return await connect(signal);
      const client = await within(leftMs(), connect, signal);
      say("connected to the server");
      return client;
    } catch (error) {
      const absence = toAbsence(error, endpoint);
      if (isAgain && signal.aborted) throw cancelled(endpoint);
      if (isAgain && (leftMs() === 0 || wasGivenUp(error))) throw tooLate(endpoint, retrySeconds, error);
      if (!absence) throw error;
      if (retrySeconds === 0 || (absence.kind === "not_there" && !waitsForStart)) throw absence.failure;
      if (!isAgain) say(`${sentence(absence)}; trying again for ${retrySeconds} s, Ctrl-C ends that`);
      isAgain = true;
    }
    await pause(Math.min(delayMs, leftMs()), signal);
    if (signal.aborted) throw cancelled(endpoint);
  }
};

const sentence = ({ kind, failure }: Absence): string =>
  kind === "lost" ? "the connection to the server is lost" : failure.message;

/** A timer can be due a little before its time is over by the other clock. */
const wasGivenUp = (error: unknown): boolean =>
  HarnessError.isInstance(error) && error.code === "request_cancelled";

/** An attempt that has to be over in time. The signal that it gets is of use afterwards, too. */
const within = async <T>(
  timeoutMs: number,
  connect: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    return await connect(AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
};

const tooLate = (endpoint: string, retrySeconds: number, cause: unknown): CliError =>
  new CliError("unavailable", `The server did not come within ${retrySeconds} s`, {
    exitCode: ExitCode.unavailable,
    hint: startHint(endpoint),
    cause,
  });

const cancelled = (endpoint: string): CliError =>
  new CliError("cancelled", "Cancelled while the server was away", {
    exitCode: ExitCode.interrupted,
    hint: startHint(endpoint),
  });

/** Settles after the time, or when the signal aborts. Keeps the process alive, which has no connection now. */
const pause = (delayMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", settle);
      resolve();
    };
    const timer = setTimeout(settle, delayMs);
    signal.addEventListener("abort", settle, { once: true });
    if (signal.aborted) settle();
  });
