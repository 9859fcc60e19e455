import { readFile } from "node:fs/promises";
import { usageError } from "../cli-error.ts";
import { fromHere } from "../io.ts";

/** Checks the URL of `--public-url`: an origin, because the page asks at its root. Throws a `CliError` `usage`. */
export const checkPublicUrl = (url: string): string => {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isPlain =
    parsed?.pathname === "/" && parsed.search === "" && parsed.hash === "" && parsed.username === "";
  if (isPlain && (parsed.protocol === "https:" || parsed.protocol === "http:")) return url;
  throw usageError(`--public-url takes an http: or https: URL without a path, got ${url}`);
};

export interface TlsFiles {
  readonly publicUrl?: string | undefined;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
}

const readPem = async (option: string, file: string): Promise<string> => {
  try {
    return await readFile(fromHere(file), "utf8");
  } catch (cause) {
    throw usageError(`${option}: ${file} cannot be read: ${(cause as NodeJS.ErrnoException).code}`);
  }
};

/** Reads the certificate with which the hub serves its public URL; undefined where none is named. Rejects with a `CliError` `usage`. */
export const readTls = async ({ publicUrl = "", tlsCert, tlsKey }: TlsFiles) => {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw usageError("--tls-cert and --tls-key belong together");
  if (!publicUrl.startsWith("https:"))
    throw usageError(
      "--tls-cert needs --public-url https://NAME:PORT",
      "NAME is what the certificate is for, and the hub listens on PORT",
    );
  return { cert: await readPem("--tls-cert", tlsCert), key: await readPem("--tls-key", tlsKey) };
};
