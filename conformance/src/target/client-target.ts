import { ConformanceError, Unmet } from "../errors.ts";
import type { RequestFacts } from "../link/http-host-link.ts";
import type { Framing } from "../scenario/suite-schema.ts";
import type { Driver, Outcome } from "./driver.ts";
import { type AcceptedLink, createHost, type Host } from "./host.ts";
import { type RunningTarget, type ServerTargetOptions, startTarget } from "./server-target.ts";
import type { TargetPlace } from "./target-spec.ts";

/** A client under test, for one scenario. */
export interface ClientTarget {
  /** The next connection of the client that was not taken. Rejects with {@link Unmet} when none comes. */
  accept(withinMs: number): Promise<AcceptedLink>;
  do(operation: string, params: unknown): Promise<Outcome>;
  /** Ends the client and starts another one; connections that were not taken are forgotten. */
  restart(how: "kill" | "stop"): Promise<void>;
  stop(): Promise<void>;
  log(): string;
}

export interface ClientTargetOptions extends ServerTargetOptions {
  onMessage(message: unknown, facts: RequestFacts): void;
}

const start = (options: ClientTargetOptions, place: TargetPlace): Promise<RunningTarget> => {
  if (options.spec.kind !== "address") return startTarget(place, options);
  throw new ConformanceError("usage", "a client is started by the suite: give a command or a module");
};

/** Listens, and starts the client of one scenario. */
export const createClientTarget = async (options: ClientTargetOptions): Promise<ClientTarget> => {
  const { spec, role, folder, token, limits } = options;
  const links: AcceptedLink[] = [];
  let wake = (): void => {};
  const host: Host = await createHost({
    transport: spec.transport,
    framing: role.transports[spec.transport] as Framing,
    folder,
    path: role.path ?? "/",
    limits,
    onLink(accepted) {
      links.push(accepted);
      wake();
    },
    onMessage: options.onMessage,
  });
  const place: TargetPlace = { endpoint: host.endpoint, directory: folder, token };
  let client: RunningTarget;
  try {
    client = await start(options, place);
  } catch (error) {
    await host.close();
    throw error;
  }
  return {
    accept: (withinMs) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const next = links.shift();
          if (next === undefined) return;
          clearTimeout(timer);
          wake = () => {};
          resolve(next);
        };
        const miss = (reason: string): void => {
          clearTimeout(timer);
          if (wake === look) wake = () => {};
          reject(new Unmet(reason));
        };
        const timer = setTimeout(
          () => miss(`a connection of the client did not come within ${withinMs} ms (--within gives more)`),
          withinMs,
        );
        wake = look;
        look();
        // What it sent before its end may still be on its way to the host.
        void client.exited?.then(({ reason }) => setImmediate(miss, `the client did not connect: ${reason}`));
      }),
    do: (operation, params) => (client.driver as Driver).do(operation, params),
    async restart(how) {
      await client.stop(how);
      for (const { link } of links.splice(0)) void link.close();
      client = await start(options, place);
    },
    async stop() {
      await client.stop();
      await host.close();
    },
    log: () => client.log(),
  };
};
