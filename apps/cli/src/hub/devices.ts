import type { HubPlace } from "@harnesskit/hub/place";
import type { Device, DeviceRights, Pairing, PairingLink } from "@harnesskit/protocol/hub";
import { HarnessError, ProtocolError } from "@harnesskit/wire";
import { renderUnicodeCompact } from "uqr";
import { type CliError, ExitCode, refusedError, usageError } from "../cli-error.ts";
import { io } from "../io.ts";
import { wantsColour } from "../terminal/style.ts";
import { createTerminal, note } from "../terminal/terminal.ts";
import { formatDuration } from "../terminal/text.ts";
import { findHub } from "./find-hub.ts";
import { askHub } from "./hub-client.ts";

export interface PairingOptions {
  /** Pairs a device, with a name for it if one is given. */
  readonly pair?: string | true;
  readonly may?: DeviceRights["may"];
  readonly upTo?: Exclude<DeviceRights["upTo"], undefined>;
}

/** The device that the options ask for; undefined where they ask for none. Throws a `CliError` `usage`. */
export const readPairing = ({ pair, may, upTo }: PairingOptions): Pairing | undefined => {
  if (pair === undefined) {
    if (may !== undefined || upTo !== undefined) throw usageError("--may and --up-to belong to --pair");
    return undefined;
  }
  if (may === "look" && upTo !== undefined) throw usageError("--up-to belongs to --may answer");
  const name = pair === true ? undefined : pair.trim();
  if (name !== undefined && (name === "" || name.length > 64))
    throw usageError("--pair: the name of a device has 1 to 64 characters");
  return { name, may: may ?? "answer", upTo };
};

/** A hub without TLS pairs no device: it is not started for one. */
export const needsTls = (cause?: unknown): CliError =>
  usageError(
    "--pair needs a hub with TLS, which has --public-url https://NAME",
    [
      { to: "For example, first", run: "cloudflared tunnel --url http://127.0.0.1:PORT" },
      { to: "Then", run: "harness hub --pair --port PORT --public-url https://NAME.trycloudflare.com" },
    ],
    cause,
  );

/** Why a device is not paired, as an error that says what to do. */
export const toPairingFailure = (error: unknown): unknown => {
  // Of a hub that is asked over its socket, or of one in this process.
  const { reason } = (ProtocolError.isInstance(error) ? (error.data ?? {}) : {}) as {
    readonly reason?: string;
  };
  const code = reason ?? (HarnessError.isInstance(error) ? error.code : "");
  if (code === "tls_required") return needsTls(error);
  if (code !== "too_many_devices") return error;
  const hint = { to: "List them", run: "harness hub devices" };
  return refusedError(code, (error as Error).message, { hint, cause: error });
};

/** A QR code as lines for a terminal, light on dark: with colours whatever the terminal's own are. */
export const qrLines = (text: string, isColoured: boolean): readonly string[] =>
  renderUnicodeCompact(text, { border: 2 })
    .split("\n")
    .map((line) => (isColoured ? `\u001b[97;40m${line}\u001b[0m` : line));

/** What a device may do, in words. */
const rightsText = ({ may, upTo }: DeviceRights): string => {
  if (may === "look") return "may look, and answer nothing";
  return upTo === undefined ? "may answer everything" : `may answer up to a ${upTo} risk`;
};

/** How a link is used, in words. */
export const pairingText = ({ code }: PairingLink, pairing: Pairing): string =>
  `scan it with the phone, or open the page there and type ${code}; it pairs one device, which ${rightsText(pairing)}, within five minutes`;

/** Writes the QR code of a link to standard error. */
export const writePairing = ({ link }: PairingLink): void => {
  const { stderr, env } = io();
  stderr.write(`\n${qrLines(link, wantsColour(stderr, env)).join("\n")}\n\n`);
};

/**
 * Asks a hub that runs already for a link that pairs a device: the link is written to standard output, its QR code beside it. Resolves with
 * false where none runs. Rejects with a `CliError` where the hub refuses.
 */
export const pairWithRunningHub = async (
  { directory }: HubPlace,
  pairing: Pairing,
  version: string,
): Promise<boolean> => {
  if ((await findHub(directory)) === undefined) return false;
  const link = await askHub({ state: directory, name: "harness hub", version }, (client) =>
    client.call("devices.pair", pairing),
  ).catch((error: unknown) => {
    throw toPairingFailure(error);
  });
  writePairing(link);
  createTerminal().exact(link.link);
  note(`harness hub: ${pairingText(link, pairing)}`);
  return true;
};

interface DevicesOptions {
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
