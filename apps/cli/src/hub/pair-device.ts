import type { HubPlace } from "@harnesskit/hub/place";
import type { Pairing, PairingLink } from "@harnesskit/protocol/hub";
import { io } from "../io.ts";
import { wantsColour } from "../terminal/style.ts";
import { createTerminal, note } from "../terminal/terminal.ts";
import { askHub } from "./ask-hub.ts";
import { findHub } from "./find-hub.ts";
import { pairingText, qrLines, toPairingFailure } from "./pairing.ts";

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
