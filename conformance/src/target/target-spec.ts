import type { TransportName } from "../scenario/step-schema.ts";

/** What a target presents or asks for over HTTP and WebSocket. */
export interface Credentials {
  readonly bearer?: string;
  readonly apiKey?: string;
}

/** A target that the suite starts. */
interface StartedTarget {
  /** It checks no credential, and says so: what the suite says of credentials is not judged. @default false */
  readonly isOpen?: boolean;
}

/** A program. A server is on stdio, or listens at `CONFORMANCE_ENDPOINT`; a client connects there. */
export interface CommandTarget extends StartedTarget {
  readonly kind: "command";
  /** For the system's shell. */
  readonly command: string;
  readonly transport: TransportName;
}

/** A server that runs already. */
export interface AddressTarget {
  readonly kind: "address";
  readonly transport: Exclude<TransportName, "stdio">;
  /** The path of a Unix socket, `HOST:PORT`, or a URL. */
  readonly address: string;
  readonly credentials?: Credentials;
}

/** A module of JavaScript in this process; see {@link StartModule}. */
export interface ModuleTarget extends StartedTarget {
  readonly kind: "module";
  readonly start: StartModule;
  readonly name: string;
  readonly transport: Exclude<TransportName, "stdio">;
}

export type TargetSpec = CommandTarget | AddressTarget | ModuleTarget;

/** What a target is given: a command as environment variables, a module as an argument. */
export interface TargetPlace {
  /** `CONFORMANCE_ENDPOINT`: `unix:PATH`, `tcp:HOST:PORT`, `http://…`, `ws://…` or `stdio:COMMAND`. */
  readonly endpoint: string;
  /** `CONFORMANCE_TOKEN`: the bearer token over HTTP and WebSocket. */
  readonly token: string;
  /** `CONFORMANCE_DIR`: a folder for the files of the target, which is removed after the scenario. */
  readonly directory: string;
}

/** A target that runs in this process. */
export interface RunningModule {
  /** Does what the driver of a command does on a line. Rejects with the error of the operation. */
  do?(operation: string, params: unknown): Promise<unknown>;
  /** What it has logged. */
  log?(): string;
  close(): Promise<void>;
}

/** The default export of a module target: a server that listens when it settles, or a client that does not connect yet. */
export type StartModule = (place: TargetPlace) => Promise<RunningModule>;

/** A target in one line, for reports. */
export const describeTarget = (spec: TargetSpec): string => {
  if (spec.kind === "command") return spec.command;
  return spec.kind === "module" ? spec.name : `${spec.transport} ${spec.address}`;
};
