import { hosts } from "@harnesskit/agent-hooks";
import { createGuard, createHookHandler, createHookListener, type HookHandler } from "@harnesskit/guard";
import type { Hub } from "@harnesskit/hub";
import type { HubPlace } from "@harnesskit/hub/place";

export interface HubGuardOptions {
  readonly hub: Pick<Hub, "exchange">;
  readonly place: HubPlace;
  readonly version: string;
  readonly onError: (error: unknown) => void;
}

/** The guard of a hub. */
export interface HubGuard {
  /** For the hub's HTTP server: `/hooks/HOST`. */
  readonly handlers: Readonly<Record<string, HookHandler>>;
  /** Opens the socket for the hooks' programs. Rejects as `createUnixListener` does. */
  listen(): Promise<void>;
  /** Ends the hooks that wait: they refuse, and their questions stay. */
  close(): Promise<void>;
}

/** Answers the hooks of other vendors' agents by a hub. */
export const createHubGuard = ({ hub, place, version, onError }: HubGuardOptions): HubGuard => {
  const guard = createGuard({ harness: hub.exchange, version, onError });
  const listener = createHookListener({ guard, path: place.guardSocket, onError });
  return {
    handlers: Object.fromEntries(hosts.map(({ id }) => [`/hooks/${id}`, createHookHandler(guard, id)])),
    listen: () => listener.listen(),
    close: () => listener.close(),
  };
};
