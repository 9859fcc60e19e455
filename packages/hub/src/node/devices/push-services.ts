import { isLoopbackUrl } from "./origins.ts";

/** The push services of browsers, by the end of their hosts' names. */
const services = [
  "push.apple.com",
  "fcm.googleapis.com",
  "jmt17.google.com",
  "notify.windows.com",
  "push.services.mozilla.com",
];

/**
 * Whether the hub sends pushes to an endpoint that a device has named: it must not lead the hub to a host of a stolen device's choice. A
 * device of this machine, at a loopback origin, may name an endpoint of this machine.
 */
export const takesPushes = (endpoint: string, origin: string): boolean => {
  const { protocol, hostname, port, username, password } = new URL(endpoint);
  if (username !== "" || password !== "") return false;
  if (isLoopbackUrl(endpoint)) return isLoopbackUrl(origin);
  const isKnown = services.some((service) => hostname === service || hostname.endsWith(`.${service}`));
  return protocol === "https:" && port === "" && isKnown;
};
