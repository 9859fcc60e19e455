import type {
  HubMethodName,
  HubMethodParams,
  HubMethodResult,
  HubNotificationName,
  HubNotificationParams,
} from "@harnesskit/protocol/hub";
import type { Store } from "./store.ts";

/** `connecting`: for the first time; `away`: lost and tried again; `denied`: the hub does not know this page any more. */
export type LinkState = "connecting" | "ready" | "away" | "denied";

export type Hello = HubMethodResult<"hub.hello">;

/** The page's way to the hub, over any number of connections. */
export interface HubLink {
  readonly state: Store<LinkState>;
  /** What the hub said of itself, last. */
  readonly hello: Store<Hello | undefined>;
  /** Waits for a connection if there is none. Rejects with the hub's errors, and when a connection is lost before the answer. */
  call<M extends HubMethodName>(method: M, params: HubMethodParams<M>): Promise<HubMethodResult<M>>;
  on<N extends HubNotificationName>(
    name: N,
    listener: (params: HubNotificationParams<N>) => void,
  ): () => void;
  /** Runs at each connection, the present one included. */
  onReady(listener: () => void): () => void;
}
