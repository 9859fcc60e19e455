import { isUnknown } from "./marks.ts";

/** Whether a URL or a host is this machine. */
export const isLocal = (target: string): boolean => {
  if (isUnknown(target)) return false;
  // The port alone, as some programs take it.
  if (/^:\d+(?:\/|$)/.test(target)) return true;
  const host = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^/?#@]*@)?(\[[^\]]*\]|[^/:?#]*)/i.exec(target)?.[1] ?? "";
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal)$/i.test(host);
};
