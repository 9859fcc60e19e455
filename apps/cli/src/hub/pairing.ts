import type { DeviceRights, Pairing, PairingLink } from "@harnesskit/protocol/hub";
import { HarnessError, ProtocolError } from "@harnesskit/wire";
import { encode } from "uqr";
import { refusedError, usageError } from "../cli-error.ts";

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

const tlsHint =
  "For example: cloudflared tunnel --url http://127.0.0.1:PORT, and then harness hub --pair --port PORT --public-url https://NAME.trycloudflare.com";

/** Why a device is not paired, as an error that says what to do. */
export const toPairingFailure = (error: unknown): unknown => {
  // Of a hub that is asked over its socket, or of one in this process.
  const { reason } = (ProtocolError.isInstance(error) ? (error.data ?? {}) : {}) as {
    readonly reason?: string;
  };
  const code = reason ?? (HarnessError.isInstance(error) ? error.code : "");
  if (code !== "tls_required" && code !== "too_many_devices") return error;
  const hint = code === "tls_required" ? tlsHint : "harness hub devices lists them, and --revoke ID ends one";
  return refusedError(code, (error as Error).message, { hint, cause: error });
};

/** Two rows of modules in one line of characters: upper half dark, lower half dark. */
const blocks = { dark: [" ", "▄", "▀", "█"], light: ["█", "▀", "▄", " "] } as const;

/**
 * A QR code as lines for a terminal: black on white where it has colours, else in the terminal's own colour, which is taken for light on
 * dark.
 */
export const qrLines = (text: string, isColoured: boolean): readonly string[] => {
  const { data, size } = encode(text, { border: 2 });
  const chars = isColoured ? blocks.dark : blocks.light;
  const lines: string[] = [];
  for (let y = 0; y < size; y += 2) {
    const line = Array.from({ length: size }, (_, x) => {
      const [upper, lower] = [data[y]?.[x] === true, data[y + 1]?.[x] === true];
      return chars[(upper ? 2 : 0) + (lower ? 1 : 0)];
    }).join("");
    lines.push(isColoured ? `\u001b[30;107m${line}\u001b[0m` : line);
  }
  return lines;
};

/** What a device may do, in words. */
export const rightsText = ({ may, upTo }: DeviceRights): string => {
  if (may === "look") return "may look, and answer nothing";
  return upTo === undefined ? "may answer everything" : `may answer up to a ${upTo} risk`;
};

/** How a link is used, in words. */
export const pairingText = ({ code }: PairingLink, pairing: Pairing): string =>
  `scan it with the phone, or open the page there and type ${code}; it pairs one device, which ${rightsText(pairing)}, within five minutes`;
