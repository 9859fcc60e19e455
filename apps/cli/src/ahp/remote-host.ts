import { BlockList, isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** True for an address that only this machine reaches. */
export const isLoopbackAddress = (address: string): boolean => {
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 4 ? "ipv4" : "ipv6");
};

const inUrl = (address: string): string => (address.includes(":") ? `[${address}]` : address);

/**
 * What other machines may call a server that listens on an address: the address, or all of this machine's where it listens
 * on all of them, and this machine's name. A page that leads a browser here by a name of its own is refused.
 */
export const namesOfHost = (address: string): readonly string[] => {
  const isAll = address === "0.0.0.0" || address === "::";
  const own = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  const addresses = isAll ? own.map((each) => each.address).filter((each) => !each.includes("%")) : [address];
  return [...new Set([...addresses.map(inUrl), "localhost", hostname().toLowerCase()])];
};
