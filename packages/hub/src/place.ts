import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where a hub and its clients on this machine meet. */
export interface HubPlace {
  /** The directory of the hub's state, for its user alone (mode 0700). */
  readonly directory: string;
  /** The Unix socket on which agents speak AHP: one message a line. A hub is running if it takes connections. */
  readonly socket: string;
  /** The Unix socket of the hub's own API, for terminals of this user. */
  readonly apiSocket: string;
  /** The Unix socket on which the hooks of other vendors' agents are answered, see `@harnesskit/guard`. */
  readonly guardSocket: string;
  /** The token for HTTP and WebSocket (mode 0600). */
  readonly tokenFile: string;
  /** The paired devices, with the hashes of their credentials (mode 0600). */
  readonly devicesFile: string;
  /** JSON `{ url, pid }` of the HTTP server of the hub that runs, or ran last: the next one takes its port again. */
  readonly serverFile: string;
}

export interface HubPlaceOptions {
  /** The directory of the state. @default `$XDG_STATE_HOME/harnesskit/hub`, or `~/.local/state/harnesskit/hub` */
  readonly state?: string | undefined;
  /** @default `process.env` */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The place of this user's hub. Reads no file, and imports nothing but `node:os` and `node:path`. */
export const hubPlace = ({ state, env = process.env }: HubPlaceOptions = {}): HubPlace => {
  const { XDG_STATE_HOME: home = "" } = env;
  const base = isAbsolute(home) ? home : join(homedir(), ".local", "state");
  const directory = state ?? join(base, "harnesskit", "hub");
  return {
    directory,
    socket: join(directory, "hub.sock"),
    apiSocket: join(directory, "api.sock"),
    guardSocket: join(directory, "guard.sock"),
    tokenFile: join(directory, "token"),
    devicesFile: join(directory, "devices.json"),
    serverFile: join(directory, "server.json"),
  };
};
