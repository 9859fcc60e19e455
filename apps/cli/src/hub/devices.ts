import type { Device } from "@harnesskit/protocol/hub";
import { ExitCode } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { formatDuration } from "../terminal/text.ts";
import { askHub } from "./ask-hub.ts";
import { rightsText } from "./pairing.ts";

export interface DevicesOptions {
  readonly state?: string;
  /** Ends a device. */
  readonly revoke?: string;
  readonly json?: true;
}

const stateText = ({ isConnected, lastSeenAtMs, revokedAtMs }: Device, nowMs: number): string => {
  if (revokedAtMs !== undefined) return `revoked ${formatDuration(Math.max(0, nowMs - revokedAtMs))} ago`;
  return isConnected ? "connected" : `seen ${formatDuration(Math.max(0, nowMs - lastSeenAtMs))} ago`;
};

const deviceLine = (device: Device, nowMs: number): string => {
  const { id, name, origin, isNotified } = device;
  const notified = isNotified ? ", is notified" : "";
  return `${id}  ${name}: ${rightsText(device)}${notified}; ${stateText(device, nowMs)}, at ${origin}`;
};

/** `harness hub devices`: lists the paired devices of the hub that runs, or revokes one. */
export const devices = async (
  { state, revoke, json }: DevicesOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  const terminal = createTerminal();
  const list = await askHub({ state, name: "harness hub", version }, async (client) =>
    revoke === undefined
      ? (await client.call("devices.list")).devices
      : [(await client.call("devices.revoke", { id: revoke })).device],
  );
  const nowMs = io().clock.now();
  for (const device of list) {
    if (json) terminal.json(device);
    else terminal.say(deviceLine(device, nowMs));
  }
  if (list.length === 0 && !json) terminal.say("No devices are paired. To pair one: harness hub --pair");
  return ExitCode.done;
};
