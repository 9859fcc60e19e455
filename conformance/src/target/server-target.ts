import { ConformanceError, messageOf } from "../errors.ts";
import type { ConformanceLimits } from "../limits.ts";
import { createByteLink } from "../link/byte-link.ts";
import type { Link } from "../link/link.ts";
import type { Framing, Role } from "../scenario/suite-schema.ts";
import { type CredentialKind, dial, RefusedConnection } from "./dial.ts";
import { createLineDriver, createModuleDriver, type Driver, type Outcome } from "./driver.ts";
import { createPlace } from "./place.ts";
import { type Exit, startProcess, type TargetProcess } from "./target-process.ts";
import type { Credentials, RunningModule, TargetPlace, TargetSpec } from "./target-spec.ts";

/** A server under test, for one scenario. */
export interface ServerTarget {
  /** Rejects with {@link RefusedConnection} where the server refuses, and with `unavailable` where it is not there. */
  open(credential: CredentialKind): Promise<Link>;
  /** Has the target do what its user would, by its driver. */
  do(operation: string, params: unknown): Promise<Outcome>;
  restart(how: "kill" | "stop"): Promise<void>;
  stop(): Promise<void>;
  log(): string;
}

export interface ServerTargetOptions {
  readonly spec: TargetSpec;
  readonly role: Role;
  readonly folder: string;
  readonly token: string;
  readonly limits: ConformanceLimits;
}

const unavailable = (what: string, cause?: unknown): ConformanceError =>
  new ConformanceError("unavailable", cause === undefined ? what : `${what}: ${messageOf(cause)}`, { cause });

const waitMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Each connection over stdio is a process of its own. */
const createStdioTarget = (command: string, options: ServerTargetOptions): ServerTarget => {
  const { folder, token, limits } = options;
  const place: TargetPlace = { endpoint: "stdio:", directory: folder, token };
  const processes: TargetProcess[] = [];
  return {
    async open() {
      const target = startProcess(command, place, limits);
      processes.push(target);
      return createByteLink(target.stream(), options.role.transports.stdio as Framing, limits);
    },
    do: () => Promise.reject(unavailable("a server over stdio has no driver")),
    restart: async (how) => void (await Promise.all(processes.splice(0).map((each) => each.stop(how)))),
    stop: async () => void (await Promise.all(processes.map((each) => each.stop()))),
    log: () => processes.map((each) => each.log()).join(""),
  };
};

/** A target that the suite has started, or that ran already. */
export interface RunningTarget {
  stop(how?: "kill" | "stop"): Promise<void>;
  readonly exited?: Promise<Exit>;
  log(): string;
  readonly driver?: Driver;
}

/** Starts a command or a module; what has an address runs already. */
export const startTarget = async (
  place: TargetPlace,
  { spec, limits }: ServerTargetOptions,
): Promise<RunningTarget> => {
  if (spec.kind === "command") {
    const target = startProcess(spec.command, place, limits);
    const { stop, exited, log, child } = target;
    return { stop, exited, log, driver: createLineDriver(child.stdout, child.stdin, exited) };
  }
  if (spec.kind !== "module") return { stop: async () => {}, log: () => "" };
  const module: RunningModule = await spec.start(place).catch((cause: unknown) => {
    throw unavailable("the module did not start", cause);
  });
  return {
    stop: () => module.close(),
    log: () => module.log?.() ?? "",
    driver: createModuleDriver(module),
  };
};

/** Dials until the server is there, for as long as it may take to start. */
const dialPatiently = async (
  connect: () => Promise<Link>,
  running: RunningTarget,
  limits: ConformanceLimits,
) => {
  const isThere = running.exited === undefined;
  const dueAt = performance.now() + limits.startTimeoutMs;
  let hasEnded = false;
  void running.exited?.then(() => {
    hasEnded = true;
  });
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      if (RefusedConnection.isInstance(error)) throw error;
      if (isThere) throw unavailable("the target cannot be reached", error);
      if (hasEnded) throw unavailable("the target ended before it listened", running.log().trim() || error);
      if (performance.now() > dueAt)
        throw unavailable(
          `the target did not listen within ${limits.startTimeoutMs} ms (--within gives more)`,
          running.log().trim() || error,
        );
      await waitMs(25);
    }
  }
};

const waitForHttp = async (
  endpoint: string,
  running: RunningTarget,
  limits: ConformanceLimits,
): Promise<void> => {
  const { hostname, port, protocol } = new URL(endpoint);
  const address = `tcp:${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
  const link = await dialPatiently(() => dial(address, "newline", {}, "none", limits), running, limits);
  await link.close();
};

/** Makes the server of one scenario; a command and a module are started by the first connection. */
export const createServerTarget = (options: ServerTargetOptions): ServerTarget => {
  const { spec, role, folder, token, limits } = options;
  if (spec.kind === "command" && spec.transport === "stdio") return createStdioTarget(spec.command, options);
  const framing = role.transports[spec.transport] as Framing;
  const credentials: Credentials = spec.kind === "address" ? (spec.credentials ?? {}) : { bearer: token };
  const prefix = spec.transport === "unix" || spec.transport === "tcp" ? `${spec.transport}:` : "";
  let place: Promise<TargetPlace> | undefined;
  let running: Promise<RunningTarget> | undefined;
  let logged = () => "";
  const getPlace = async (): Promise<TargetPlace> => {
    if (spec.kind === "address") return { endpoint: prefix + spec.address, directory: folder, token };
    place ??= createPlace(spec.transport, folder, role.path ?? "/", token);
    return await place;
  };
  const getRunning = async (at: TargetPlace): Promise<RunningTarget> => {
    running ??= startTarget(at, options);
    const started = await running;
    logged = started.log;
    return started;
  };
  return {
    async open(credential) {
      const at = await getPlace();
      const started = await getRunning(at);
      if (framing === "post") await waitForHttp(at.endpoint, started, limits);
      const dialled = await dialPatiently(
        () => dial(at.endpoint, framing, credentials, credential, limits),
        started,
        limits,
      );
      // Over HTTP no connection ends with the target.
      if (framing === "post") void started.exited?.then((exit) => dialled.inbox.close(exit));
      return dialled;
    },
    async do(operation, params) {
      const { driver } = await getRunning(await getPlace());
      if (driver === undefined)
        throw new ConformanceError("usage", "the suite drives the target: give a command or a module");
      return await driver.do(operation, params);
    },
    async restart(how) {
      await (await running)?.stop(how);
      running = undefined;
    },
    // One that could not be started has nothing to stop.
    stop: async () => await (await running?.catch(() => undefined))?.stop(),
    log: () => logged(),
  };
};
