import { HandlerError } from "@harnesskit/ahp-server";
import { type Channel, createDeferred, HarnessError } from "@harnesskit/wire";
import { type HarnessLogOptions, openHarnessLog } from "../audit/audit-logs.ts";
import { ExitCode, isDebugging } from "../cli-error.ts";
import { toHttpFailure, toSocketFailure } from "../endpoint.ts";
import { onStopSignals } from "../interruption.ts";
import { fromHere } from "../io.ts";
import { withCleanup } from "../with-cleanup.ts";
import { createLiveLog, type LiveLog } from "./live-log.ts";
import { isStdioAlone, type Places } from "./places.ts";
import { openPolicy, watchPolicyFile } from "./policy-file.ts";
import { createPolicyServer, type PolicyServer } from "./policy-server.ts";
import { readServerAccess } from "./token.ts";

export interface AhpServeOptions extends Places, HarnessLogOptions {
  /** A policy file, or `default` for the shipped one. */
  readonly policy: string;
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
    const policy = await openPolicy(options.policy);
    const { sink, path } = await openHarnessLog(options);
    defer(() => sink.close());
    const onError = (error: unknown) => sayFailure(log, error);
    const { harness, about, close } = createPolicyServer({
      policy,
      watch: options.policy === "default" ? undefined : watchPolicyFile,
      version: options.version,
      audit: sink,
      recordContent: options.recordContent ?? false,
      say: log.say,
      tell: options.quiet ? () => {} : (line) => line !== undefined && log.tell(line),
      onError,
    });
    defer(close);
    const lines = [
      ...(await openSocket(harness, options, onError, defer)),
      ...(await openHttp(harness, options, onError, defer)),
    ];
    // Agents hear that the harness closes before their connections end.
    defer(() => harness.close());
    log.say(`${about}; audit log ${path}${options.recordContent ? " with content" : ""}`);
    for (const line of lines) log.say(line);
    if (channel) {
      harness.connect(channel);
      log.say("listening on standard input");
    }
    const endsWithInput = channel !== undefined && isStdioAlone(options);
    const input = endsWithInput ? channel.closed.then(({ error }) => error) : stopped.promise;
    const error = await Promise.race([input, stopped.promise]);
    if (error === undefined) return ExitCode.done;
    onError(error);
    return ExitCode.failed;
  });

type Harness = PolicyServer["harness"];
type OnError = (error: unknown) => void;
type Defer = (cleanup: () => unknown) => void;

const socketAdvice = {
  form: "--unix PATH",
  whenInUse: { to: "Use the harness that runs there", run: "harness run --ahp unix:PATH" },
};

const openSocket = async (
  harness: Harness,
  { unix: path }: AhpServeOptions,
  onError: OnError,
  defer: Defer,
): Promise<string[]> => {
  if (path === undefined) return [];
  const { createUnixListener } = await import("@harnesskit/transport-uds");
  try {
    const listener = createUnixListener({ path: fromHere(path), framing: "newline", onError });
    await listener.listen((channel) => harness.connect(channel));
    defer(() => listener.close());
    return [`listening on ${listener.endpoint}`];
  } catch (error) {
    throw toSocketFailure(error, "--unix", socketAdvice);
  }
};

const path = "/ahp";

const openHttp = async (
  harness: Harness,
  { http: port, tokenFile }: AhpServeOptions,
  onError: OnError,
  defer: Defer,
): Promise<string[]> => {
  if (port === undefined) return [];
  const { createHttpServer } = await import("@harnesskit/transport-http/node");
  const access = await readServerAccess(tokenFile);
  const server = createHttpServer({ port, routes: { [path]: harness }, onError, ...access });
  await server.webSocketListener({ path }).listen((channel) => harness.connect(channel));
  await server.listen().catch((error: unknown) => {
    throw toHttpFailure(error, "--http");
  });
  defer(() => server.close());
  return [
    `token in ${server.tokenFile ?? tokenFile}`,
    `listening on ${server.url}${path}`,
    `listening on ${server.webSocketUrl}${path}`,
  ];
};

const isTold = (error: unknown): boolean =>
  HandlerError.isInstance(error) ||
  (HarnessError.isInstance(error) && ["invalid_message", "frame_too_large"].includes(error.code));

const sayFailure = (log: LiveLog, error: unknown): void => {
  if (isTold(error) && !isDebugging()) return;
  const code = HarnessError.isInstance(error) ? ` (${error.code})` : "";
  log.say(`${error instanceof Error ? error.message : String(error)}${code}`);
};
