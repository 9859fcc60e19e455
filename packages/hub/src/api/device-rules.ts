import { handledLevel } from "@harnesskit/approvals";
import type {
  Always,
  ApprovalRecord,
  Device,
  DeviceRights,
  HubMethodName,
  Pairing,
  PairingLink,
  PushSubscription,
} from "@harnesskit/protocol/hub";
import { notAllowed } from "./api-errors.ts";

/** The devices of a hub, as its server keeps them. */
export interface DeviceDesk {
  list(): readonly Device[];
  /** Rejects with a `ProtocolError` `NotAllowed`: `tls_required`, `too_many_devices`. */
  pair(pairing: Pairing): PairingLink;
  /** Ends the device's connections at once; undefined for an id that is not kept. */
  revoke(id: string, by: string): Promise<Device | undefined>;
  /** Undefined for a device that is revoked; rejects with `push_refused` for an endpoint of no known push service. */
  subscribe(id: string, subscription: PushSubscription | undefined): Promise<Device | undefined>;
}

/** Who may call a method: any device, one that may answer, or the hub's user alone. */
const needs: Readonly<Record<HubMethodName, "look" | "answer" | "user">> = {
  "hub.hello": "look",
  "inbox.list": "look",
  "inbox.get": "look",
  "inbox.watch": "look",
  "inbox.answer": "answer",
  "inbox.previewGrant": "look",
  "grants.list": "look",
  "grants.revoke": "answer",
  "devices.list": "user",
  "devices.pair": "user",
  // Itself.
  "devices.revoke": "look",
  "devices.subscribe": "look",
  "timeline.page": "look",
  "timeline.watch": "look",
  "timeline.get": "look",
  "timeline.read": "look",
  "watch.cancel": "look",
  "agents.list": "look",
  "agents.control": "answer",
  "sessions.list": "look",
  "activity.list": "look",
  "policy.get": "look",
  "policy.save": "user",
  // It is work for the hub's processor, as much as the caller likes.
  "policy.check": "user",
  "policy.backtest": "user",
};

export const userOnly = () =>
  notAllowed("not_for_devices", "this is done on the hub's own machine, not from a device");

/** Throws `NotAllowed` for a call that a device may not make. */
export const checkCall = (method: HubMethodName, rights: DeviceRights): void => {
  const needed = needs[method];
  if (needed === "user") throw userOnly();
  if (needed === "answer" && rights.may !== "answer")
    throw notAllowed("device_only_looks", "this device was paired to look, not to answer");
};

const levels = ["low", "medium", "high", "critical"] as const;

/** Throws `NotAllowed` for an answer beyond the risk of a device, and for a grant that could allow more than was asked. */
export const checkAnswer = (
  { risk }: ApprovalRecord,
  always: Always | undefined,
  rights: DeviceRights,
): void => {
  const { upTo } = rights;
  if (upTo === undefined) return;
  if (levels.indexOf(handledLevel(risk.level)) > levels.indexOf(upTo)) {
    const shown = risk.level === "unknown" ? "an unknown" : `a ${risk.level}`;
    throw notAllowed("beyond_device", `this device answers up to a ${upTo} risk, and this is ${shown} one`);
  }
  if (always?.input !== undefined)
    throw notAllowed("beyond_device", "this device gives grants for exactly the call that it answers");
};
