import { BlockList, isIP, type Socket } from "node:net";
import { InvalidArgumentError } from "@harnesskit/wire";
import { NotLoopbackError } from "./errors.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Throws `not_loopback` unless the host is an address of the loopback interface; a name could lead anywhere. */
export const assertLoopback = (host: string): void => {
  const family = isIP(host);
  if (family !== 0 && !host.includes("%") && loopback.check(host, family === 4 ? "ipv4" : "ipv6")) return;
  throw new NotLoopbackError(host);
};

/** Throws `invalid_argument` unless the port is a whole number in its range. */
export const assertPort = (port: number, lowest: 0 | 1): void => {
  if (Number.isInteger(port) && port >= lowest && port <= 65_535) return;
  throw new InvalidArgumentError(`a port must be a whole number from ${lowest} to 65535`);
};

/** `tcp:127.0.0.1:8080`, `tcp:[::1]:8080`. */
export const tcpEndpoint = (host: string, port: number): string =>
  host.includes(":") ? `tcp:[${host}]:${port}` : `tcp:${host}:${port}`;

/** On Linux, connecting to a free port of one's own range can end in a connection of the socket with itself. */
export const isOwnEcho = ({ localAddress, localPort, remoteAddress, remotePort }: Socket): boolean =>
  localPort === remotePort && localAddress === remoteAddress;
