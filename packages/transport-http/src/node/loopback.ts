import { BlockList, isIP } from "node:net";
import { InvalidArgumentError } from "@harnesskit/wire";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** True for an address of the loopback interface; a name could lead anywhere. */
const isLoopbackAddress = (host: string): boolean => {
  const family = isIP(host);
  return family !== 0 && !host.includes("%") && loopback.check(host, family === 4 ? "ipv4" : "ipv6");
};

/** Throws `invalid_argument` unless the host is an address of this machine alone, or more was asked for. */
export const assertBindable = (host: string, allowRemote: boolean): void => {
  if (isIP(host) === 0)
    throw new InvalidArgumentError("host is an address, as 127.0.0.1 or ::1, and no name");
  if (allowRemote || isLoopbackAddress(host)) return;
  throw new InvalidArgumentError(
    `${host} is open to other machines: pass allowRemote: true with allowedHosts, and use TLS, if that is meant`,
  );
};

/** The names of this machine for itself, with the port. Port 80 is left out of URLs, and 443 with TLS. */
export const loopbackHosts = (host: string, port: number, isTls: boolean): string[] => {
  const names = [...new Set(["localhost", "127.0.0.1", "[::1]", host.includes(":") ? `[${host}]` : host])];
  const withPort = names.map((name) => `${name}:${port}`);
  // A bare name would stand for any port: it is allowed where it means this one.
  return port === (isTls ? 443 : 80) ? [...withPort, ...names] : withPort;
};
