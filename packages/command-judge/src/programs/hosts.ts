import { isUnknown, withoutGlobMark } from "../marks.ts";
import type { Call } from "./spec.ts";

const local = /^(?:[a-z+]+:\/\/)?(?:localhost|127(?:\.\d+){3}|\[::1\]|::1|0\.0\.0\.0)(?::\d+)?(?:[/?#]|$)/i;

/** Whether an address is on this machine. */
export const isLocal = (address: string): boolean => local.test(address) && !isUnknown(address);

/** Notes that a program connects to an address. One that is not known in full may carry data. */
export const noteHost = ({ walk, name, scope }: Call, address: string): void => {
  const host = withoutGlobMark(address);
  if (/^file:/i.test(host)) {
    walk.read(host.replace(/^file:\/*/i, "/"), scope);
    return;
  }
  const isHere = isLocal(host);
  walk.network(!isHere);
  if (isUnknown(host))
    walk.report("exfiltration", "sends-data", `${name} puts what is not known into an address: ${address}`);
  if (!isHere) walk.report("network", "network", `${name} connects to ${address}`);
};
