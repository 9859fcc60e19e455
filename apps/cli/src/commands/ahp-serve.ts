import {
  type AhpServer,
  type AuditRecorder,
  createAhpServer,
  HandlerError,
  type StateStore,
} from "@harnesskit/ahp-server";
import type { Policy } from "@harnesskit/ahp-server/policy";
import type { AuditEntryInput, AuditSink } from "@harnesskit/audit";
import { type Channel, createDeferred, HarnessError } from "@harnesskit/wire";
import { createBuiltInHandlers, type DefaultDecision } from "../ahp/built-in-handlers.ts";
import { entryLine, eventLine } from "../ahp/event-line.ts";
import { type HarnessLogOptions, openHarnessLog } from "../ahp/harness-log.ts";
import { openHarnessState } from "../ahp/harness-state.ts";
import { createLiveLog, type LiveLog } from "../ahp/live-log.ts";
import { openPlaces } from "../ahp/open-places.ts";
import { isStdioAlone, type Places } from "../ahp/places.ts";
import type { PolicyServer } from "../ahp/policy-server.ts";
import { isDebugging } from "../debug.ts";
import { ExitCode } from "../exit-code.ts";
import { onStopSignals } from "../serve/stop-signals.ts";
import { oneLine } from "../terminal/one-line.ts";

export interface AhpServeOptions extends Places, HarnessLogOptions {
  /** A policy file, or `default` for the shipped one. @default none: everything is answered with `default` */
  readonly policy?: string;
  /** The answer to what asks for permission, without a policy. */
  readonly default: DefaultDecision;
  /** Whether runs, task lists and verifications are kept beside the audit log. @default true */
  readonly state?: boolean;
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
    const policy = await openNamedPolicy(options.policy);
    const audit = await openHarnessLog(options);
    try {
      const stateStore =
        options.state === false
          ? undefined
          : await openHarnessState({ auditPath: audit.path, sink: audit.sink, say: log.say });
      const kept = { audit: audit.sink, stateStore };
      const { harness, about, close } = await createHarness(options, policy, kept, log);
      try {
        const auditLog = `audit log ${oneLine(audit.path, 1000)}${options.recordContent ? " with content" : ""}`;
        const { runs } = harness.stats();
        const known = stateStore ? `keeps runs (${runs} from before)` : "forgets runs at its end";
        return await serve(harness, options, {
          channel,
          log,
          stopped: stopped.promise,
          about: `${about}; ${known}; ${auditLog}`,
        });
      } finally {
        close();
      }
    } finally {
      await audit.sink.close();
    }
  } finally {
    forget();
  }
};

const openNamedPolicy = async (name: string | undefined): Promise<Policy | undefined> => {
  if (name === undefined) return undefined;
  const { openPolicy } = await import("../ahp/policy-file.ts");
  return openPolicy(name);
};

const createHarness = async (
  options: AhpServeOptions,
  policy: Policy | undefined,
  { audit, stateStore }: { readonly audit: AuditSink; readonly stateStore: StateStore | undefined },
  log: LiveLog,
): Promise<PolicyServer> => {
  const { version, recordContent = false } = options;
  const tell = options.quiet ? () => {} : (line: string | undefined) => line !== undefined && log.tell(line);
  const onError = (error: unknown) => sayFailure(log, error);
  if (policy) {
    const { createPolicyServer } = await import("../ahp/policy-server.ts");
    const isWatched = options.policy !== "default";
    return createPolicyServer({
      policy,
      isWatched,
      version,
      audit,
      stateStore,
      recordContent,
      say: log.say,
      tell,
      onError,
    });
  }
  const recorder = recordContent ? await recorderOfContent(audit) : audit;
  const harness: AhpServer = createAhpServer({
    name: "harness-ahp",
    version,
    handlers: createBuiltInHandlers({
      decision: options.default,
      harness: () => harness,
      onEvent: (event, decision) => tell(eventLine(event, decision)),
    }),
    audit: {
      ...recorder,
      record(entry: AuditEntryInput) {
        audit.record(entry);
        tell(entryLine(entry));
      },
    },
    onError,
    ...(stateStore && { stateStore }),
  });
  const about = noPolicyText[options.default];
  return { harness, about, close: () => {} };
};

/** What an agent gets without a policy. */
const noPolicyText: Readonly<Record<DefaultDecision, string>> = {
  escalate:
    "NO POLICY (--policy FILE): every question of an agent is escalated, so that nothing is allowed without a person",
  block: "NO POLICY (--policy FILE): every question of an agent is answered with block",
  allow: "NO POLICY (--policy FILE): every question of an agent is answered with ALLOW",
};

const openText = (host: string): string =>
  `OPEN TO OTHER MACHINES at ${host}: whoever has the token can ask this harness, report to it and query what it knows; ` +
  "there is no TLS, so that the token can be read on the way";

const recorderOfContent = async (sink: AuditSink): Promise<AuditRecorder> => {
  const { createPolicyAudit } = await import("@harnesskit/ahp-server/policy");
  return createPolicyAudit({ sink, recordContent: true });
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
  /** What it goes by, and where that is recorded. */
  readonly about: string;
}

const serve = async (
  harness: AhpServer,
  options: AhpServeOptions,
  { channel, log, stopped, about }: Served,
): Promise<ExitCode> => {
  try {
    const places = await openPlaces(harness, options, (error) => sayFailure(log, error));
    try {
      const { endpoints, tokenFile, remoteHost } = places;
      log.say(about);
      if (remoteHost !== undefined) log.say(openText(remoteHost));
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
