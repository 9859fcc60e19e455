import { type AhpServer, createAhpServer, HandlerError } from "@harnesskit/ahp-server";
import type { AuditEntryInput, AuditSink } from "@harnesskit/audit";
import { type Channel, createDeferred, HarnessError } from "@harnesskit/wire";
import { createBuiltInHandlers, type DefaultDecision } from "../ahp/built-in-handlers.ts";
import { entryLine, eventLine } from "../ahp/event-line.ts";
import { createLiveLog, type LiveLog } from "../ahp/live-log.ts";
import { openPlaces } from "../ahp/open-places.ts";
import { isStdioAlone, type Places } from "../ahp/places.ts";
import { isDebugging } from "../debug.ts";
import { ExitCode } from "../exit-code.ts";
import { openHarnessAuditLog } from "../serve/audit-log.ts";
import { onStopSignals } from "../serve/stop-signals.ts";
import { oneLine } from "../terminal/one-line.ts";

export interface AhpServeOptions extends Places {
  /** The answer to what asks for permission. */
  readonly default: DefaultDecision;
  /** The audit log; without one there is no harness. @default one in the user's state directory */
  readonly audit?: string;
  /** No line for each event. @default false */
  readonly quiet?: true;
  /** Of this program. */
  readonly version: string;
}

/**
 * `harness ahp serve`: one harness in every place that was named. Takes the channel of standard input and output, not yet
 * started, where these are one of the places. Ends with its input where that is the only one, else with a signal.
 */
export const ahpServe = async (options: AhpServeOptions, channel: Channel | undefined): Promise<ExitCode> => {
  const log = createLiveLog();
  const stopped = createDeferred<void>();
  const forget = onStopSignals(() => stopped.resolve());
  try {
    const audit = await openHarnessAuditLog(options.audit);
    try {
      const harness = createHarness(options, audit.sink, log);
      return await serve(harness, options, { channel, log, stopped: stopped.promise, auditFile: audit.path });
    } finally {
      await audit.sink.close();
    }
  } finally {
    forget();
  }
};

const createHarness = (options: AhpServeOptions, audit: AuditSink, log: LiveLog): AhpServer => {
  const tell = options.quiet ? () => {} : (line: string | undefined) => line !== undefined && log.tell(line);
  const harness: AhpServer = createAhpServer({
    name: "harness-ahp",
    version: options.version,
    handlers: createBuiltInHandlers({
      decision: options.default,
      harness: () => harness,
      onEvent: (event, decision) => tell(eventLine(event, decision)),
    }),
    audit: {
      record(entry: AuditEntryInput) {
        audit.record(entry);
        tell(entryLine(entry));
      },
    },
    onError: (error) => sayFailure(log, error),
  });
  return harness;
};

/** Of what was no message, or what a handler said, there is a line already. */
const isTold = (error: unknown): boolean =>
  HandlerError.isInstance(error) ||
  (HarnessError.isInstance(error) && ["invalid_message", "frame_too_large"].includes(error.code));

const sayFailure = (log: LiveLog, error: unknown): void => {
  if (isTold(error) && !isDebugging()) return;
  const code = HarnessError.isInstance(error) ? ` (${error.code})` : "";
  log.say(`${oneLine(error instanceof Error ? error.message : String(error), 500)}${code}`);
};

interface Served {
  readonly channel: Channel | undefined;
  readonly log: LiveLog;
  /** Settles with the first signal. */
  readonly stopped: Promise<void>;
  readonly auditFile: string;
}

const serve = async (
  harness: AhpServer,
  options: AhpServeOptions,
  { channel, log, stopped, auditFile }: Served,
): Promise<ExitCode> => {
  try {
    const places = await openPlaces(harness, options, (error) => sayFailure(log, error));
    try {
      const { endpoints, tokenFile } = places;
      log.say(
        `no policy: permission is answered with ${options.default}; audit log ${oneLine(auditFile, 1000)}`,
      );
      if (tokenFile !== undefined) log.say(`token in ${oneLine(tokenFile, 1000)}`);
      for (const endpoint of endpoints) log.say(`listening on ${oneLine(endpoint, 1000)}`);
      if (channel) {
        harness.connect(channel);
        log.say("listening on standard input");
      }
      if (!channel || !isStdioAlone(options)) {
        await stopped;
        return ExitCode.done;
      }
      const closed = channel.closed.then(({ error }) => error);
      const error = await Promise.race([closed, stopped.then(() => undefined)]);
      if (error === undefined) return ExitCode.done;
      sayFailure(log, error);
      return ExitCode.failed;
    } finally {
      // Agents hear that the harness closes before their connections end.
      await harness.close();
      await places.close();
    }
  } finally {
    await harness.close();
  }
};
