import { type Channel, createDeferred } from "@harnesskit/wire";
import { ExitCode, logFailure } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { io } from "../io.ts";
import { noPolicyText, toPolicyChoice } from "../supervision/policy-choice.ts";
import { Faults } from "../terminal/faults.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { withCleanup } from "../with-cleanup.ts";
import { createModelLimit } from "./models.ts";
import { openSocketListeners } from "./socket-listeners.ts";
import { openThreadService, type ThreadServiceOptions } from "./thread-service.ts";

export interface ServeOptions extends ThreadServiceOptions {
  /** Endpoints (`unix:PATH`) beside standard input and output. @default none */
  readonly listen?: readonly string[];
}

/**
 * `harness serve`: the thread protocol on standard input and output, and with `listen` on sockets as well. Ends with its
 * input, once what was asked there is answered and its turns have ended or wait for an approval; with a signal; or,
 * without `listen`, when the parent process is gone. Takes the channel, not yet started; none for a service, which ends
 * with a signal only.
 */
export const serve = (options: ServeOptions, channel: Channel | undefined): Promise<ExitCode> =>
  withCleanup(async (defer) => {
    const { listen = [] } = options;
    const faults = new Faults("harness serve", { maxLines: 30, everyMs: 60_000 });
    defer(() => faults.end());
    const stopped = createDeferred<unknown>();
    defer(onStopSignals(() => stopped.resolve(undefined)));
    if (toPolicyChoice(options).kind === "none") note(noPolicyText);
    const reports = { note, detail: note, error: faults.tell };
    const { server, models, place } = await openThreadService(options, reports, defer);
    // Clients of sockets choose among these models only, the client of the channel any.
    const limit = createModelLimit(models);
    const accept = (accepted: Channel) => void server.connect(accepted, limit);
    const listeners = await openSocketListeners(listen, accept, (error) => note(error.message));
    defer(() => listeners.close());
    // Clients are notified of how their turns end before the sockets close.
    defer(() => server.close());
    if (channel) {
      server.connect(channel);
      void channel.closed.then((end) => stopped.resolve(end.error));
    }
    if (listen.length > 0) void server.resume();
    if (listen.length > 0) note(`listening on ${listeners.endpoints.join(" ")}`);
    const error = await stopped.promise;
    if (listen.length > 0) note(`ended; threads are kept in ${place}`);
    if (error === undefined) return ExitCode.done;
    logFailure("harness serve", error);
    return ExitCode.failed;
  });

const note = (line: string) => void createTerminal(io().stderr).say(`harness serve: ${line}`);
