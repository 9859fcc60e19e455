import { hostname } from "node:os";
import {
  type AhpServer,
  type AuditRecorder,
  createAhpServer,
  HandlerError,
  type StateStore,
} from "@harnesskit/ahp-server";
import type { AuditEntryInput, AuditSink } from "@harnesskit/audit";
import type { Policy } from "@harnesskit/policy";
import { type Channel, createDeferred, HarnessError } from "@harnesskit/wire";
import { type HarnessLogOptions, openHarnessLog } from "../audit/audit-logs.ts";
import { ExitCode, isDebugging, usageError } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { withCleanup } from "../with-cleanup.ts";
import { createBuiltInHandlers, type DefaultDecision } from "./built-in-handlers.ts";
import { entryLine, eventLine } from "./event-text.ts";
import { createLiveLog, type LiveLog } from "./live-log.ts";
import { isStdioAlone, openPlaces, type Places } from "./places.ts";
import type { PolicyServer } from "./policy-server.ts";

const statePathOf = (auditPath: string): string => auditPath.replace(/(\.jsonl)?$/, ".state.jsonl");

/**
 * Opens the store of runs, task lists and verifications. Where the file is damaged or cannot be used, that is reported and recorded,
 * and the harness continues without it.
 */
const openHarnessState = async (
  auditPath: string,
  sink: AuditSink,
  say: LiveLog["say"],
): Promise<StateStore | undefined> => {
  const { openFileStateStore } = await import("@harnesskit/ahp-server/node");
  try {
    return openFileStateStore({ path: statePathOf(auditPath) });
  } catch (error) {
    if (!HarnessError.isInstance(error)) throw error;
    const { code, message } = error;
    sink.record({ action: "ahp.state", outcome: "failed", details: { reason: code } });
    say(`${message}; runs are forgotten at the end (${code})`);
    return undefined;
  }
};

/** Opens the state of runs in a database. Rejects with a usage error, and with `store_unavailable`. */
const openSharedState = async (
  store: string,
  { storeName }: AhpServeOptions,
  auditPath: string,
  say: LiveLog["say"],
  defer: (cleanup: () => unknown) => void,
): Promise<StateStore> => {
  const { toLocation } = await import("../store/location.ts");
  const { opening, openPostgres } = await import("../store/open.ts");
  const location = toLocation(store);
  if (location.kind !== "postgres") {
    throw usageError(
      "--store of a harness is postgres: or postgres://USER@HOST/DATABASE",
      "Without --store, runs are kept in a file beside the audit log",
    );
  }
  const database = await openPostgres(location, "harness ahp");
  defer(() => database.close());
  const name = (storeName ?? `${hostname()}:${auditPath}`).slice(-200);
  return opening(location, async () => {
    const others = (await database.runStates()).filter((other) => other !== name).length;
    if (storeName === undefined && others > 0) say(otherNamesText(name, others));
    return database.openRunState(name);
  });
};

const otherNamesText = (name: string, others: number): string => {
  const count = others === 1 ? "1 other name" : `${others} other names`;
  return (
    `runs are kept as ${name}; the store has ${count}. The runs of before are under one of them if the name of ` +
    "this machine or the path of the audit log has changed: --store-name gives a name that stays"
  );
};

export interface AhpServeOptions extends Places, HarnessLogOptions {
  /** A policy file, or `default` for the shipped one. @default none: everything is answered with `default` */
  readonly policy?: string;
  readonly default: DefaultDecision;
  /** `postgres:` or a URL of PostgreSQL, for the state of runs. @default a file beside the audit log */
  readonly store?: string;
  /** The name of this harness's runs in `store`. @default made of the machine and the path of the audit log */
  readonly storeName?: string;
  /** Whether runs, task lists and verifications are kept beside the audit log. @default true */
  readonly state?: boolean;
  /** No line for each event. @default false */
  readonly quiet?: true;
  readonly version: string;
}

/**
 * `harness ahp serve`: one harness in every place that was named. Takes the channel of standard input and output, not yet
 * started, where these are one of the places. Ends with its input where that is the only one, else with a signal.
 */
export const ahpServe = (options: AhpServeOptions, channel: Channel | undefined): Promise<ExitCode> =>
  withCleanup(async (defer) => {
    const log = createLiveLog();
    const stopped = createDeferred<void>();
    defer(onStopSignals(() => stopped.resolve()));
    const policy = await openNamedPolicy(options.policy);
    const { sink, path } = await openHarnessLog(options);
    defer(() => sink.close());
    const { store, state: keepsState = true } = options;
    const stateStore = !keepsState
      ? undefined
      : store === undefined
        ? await openHarnessState(path, sink, log.say)
        : await openSharedState(store, options, path, log.say, defer);
    const { harness, about, close } = await createHarness(options, policy, { audit: sink, stateStore }, log);
    defer(close);
    const auditLog = `audit log ${path}${options.recordContent ? " with content" : ""}`;
    const { runs } = harness.stats();
    const known = stateStore ? `keeps runs (${runs} from before)` : "forgets runs at its end";
    const places = await openPlaces(harness, options, (error) => sayFailure(log, error));
    defer(() => places.close());
    // Agents hear that the harness closes before their connections end.
    defer(() => harness.close());
    const { endpoints, tokenFile, remoteHost } = places;
    log.say(`${about}; ${known}; ${auditLog}`);
    if (remoteHost !== undefined) log.say(openText(remoteHost));
    if (tokenFile !== undefined) log.say(`token in ${tokenFile}`);
    for (const endpoint of endpoints) log.say(`listening on ${endpoint}`);
    if (channel) {
      harness.connect(channel);
      log.say("listening on standard input");
    }
    const endsWithInput = channel !== undefined && isStdioAlone(options);
    const input = endsWithInput ? channel.closed.then(({ error }) => error) : stopped.promise;
    const error = await Promise.race([input, stopped.promise]);
    if (error === undefined) return ExitCode.done;
    sayFailure(log, error);
    return ExitCode.failed;
  });

const openNamedPolicy = async (name: string | undefined): Promise<Policy | undefined> => {
  if (name === undefined) return undefined;
  const { openPolicy } = await import("./policy-file.ts");
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
    const [{ createPolicyServer }, { watchPolicyFile }] = await Promise.all([
      import("./policy-server.ts"),
      import("./policy-file.ts"),
    ]);
    return createPolicyServer({
      policy,
      watch: options.policy === "default" ? undefined : watchPolicyFile,
      version,
      audit,
      stateStore,
      recordContent,
      say: log.say,
      tell,
      onError,
    });
  }
  const recorder: AuditRecorder = recordContent ? await recorderOfContent(audit) : audit;
  const harness: AhpServer = createAhpServer({
    name: "harness-ahp",
    version,
    handlers: createBuiltInHandlers({
      decision: options.default,
      harness: () => harness,
      onEvent: (event, decision) => tell(eventLine(event, decision)),
    }),
    audit: {
      eventDetails: (event) => recorder.eventDetails?.(event),
      get isFull() {
        return audit.isFull;
      },
      record(entry: AuditEntryInput) {
        audit.record(entry);
        tell(entryLine(entry));
      },
    },
    onError,
    stateStore,
  });
  const about = noPolicyText[options.default];
  return { harness, about, close: () => {} };
};

const noPolicyText: Readonly<Record<DefaultDecision, string>> = {
  escalate:
    "NO POLICY (--policy FILE): every question of an agent is escalated, so that nothing is allowed without a person",
  block: "NO POLICY (--policy FILE): every question of an agent is answered with block",
  allow: "NO POLICY (--policy FILE): every question of an agent is answered with ALLOW",
};

const openText = (host: string): string =>
  `OPEN TO OTHER MACHINES at ${host}: any client with the token can ask this harness, report to it and query its state; ` +
  "there is no TLS, so that the token can be read on the way";

const recorderOfContent = async (sink: AuditSink): Promise<AuditRecorder> => {
  const { createPolicyAudit } = await import("../audit/content-audit.ts");
  return createPolicyAudit({ sink, recordContent: true });
};

const isTold = (error: unknown): boolean =>
  HandlerError.isInstance(error) ||
  (HarnessError.isInstance(error) && ["invalid_message", "frame_too_large"].includes(error.code));

const sayFailure = (log: LiveLog, error: unknown): void => {
  if (isTold(error) && !isDebugging()) return;
  const code = HarnessError.isInstance(error) ? ` (${error.code})` : "";
  log.say(`${error instanceof Error ? error.message : String(error)}${code}`);
};
