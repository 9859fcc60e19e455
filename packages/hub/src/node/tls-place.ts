import { isIP } from "node:net";
import { InvalidArgumentError } from "@harnesskit/wire";
import { isLoopbackUrl } from "./devices/origins.ts";

/** Where the hub serves its page by TLS itself. Throws `invalid_argument` for a URL without it. */
export const tlsPlace = (publicUrl: string | undefined) => {
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  if (url?.protocol !== "https:")
    throw new InvalidArgumentError("tls needs publicUrl, an https: URL with the port to listen on");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const address = isIP(host) > 0 ? host : isLoopbackUrl(url.href) ? "127.0.0.1" : "0.0.0.0";
  return {
    host: address,
    port: Number(url.port || 443),
    allowRemote: !isLoopbackUrl(url.href),
    allowedHosts: [url.host],
    allowedOrigins: [url.origin],
  };
};
