import type {
  Device,
  HubMethodName,
  HubMethodParams,
  HubMethodResult,
  HubNotificationName,
  HubNotificationParams,
} from "@harnesskit/protocol/hub";
import { displayText } from "@harnesskit/wire";
import type { Call } from "@harnesskit/wire/rpc";
import { type DeviceDesk, userOnly } from "./device-rules.ts";
import type { Watches } from "./watches.ts";

/** Who is at a connection of the API. */
export interface HubUser {
  /** The user's name, as answers record it. */
  readonly user: string;
  /** The device at the connection, which may do what it was paired for. @default the user, who may do everything */
  readonly device?: Device | undefined;
  /** The devices that can be paired and revoked. @default none: their methods are refused */
  readonly devices?: DeviceDesk | undefined;
  /** The key of the hub that push services know. @default the hub sends no pushes */
  readonly pushKey?: string | undefined;
}

export interface Client extends HubUser {
  readonly watches: Watches;
  /** What it called itself; undefined before `hub.hello`. */
  name: string | undefined;
  /** Settles when the message was handed over. */
  notify<N extends HubNotificationName>(name: N, params: HubNotificationParams<N>): Promise<void>;
}

export type Handlers = {
  [M in HubMethodName]: (
    params: HubMethodParams<M>,
    client: Client,
    call: Call,
  ) => HubMethodResult<M> | Promise<HubMethodResult<M>>;
};

/** Who is recorded for what a client does. */
export const byOf = ({ user, device, name = "unknown" }: Client): string =>
  displayText(device === undefined ? `${user} (${name})` : `${user} on ${device.name}`, { maxLength: 200 });

/** Throws `not_for_devices` where there are none. */
export const deskOf = ({ devices }: Client): DeviceDesk => {
  if (devices === undefined) throw userOnly();
  return devices;
};
