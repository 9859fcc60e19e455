import { FrameTooLargeError, InvalidArgumentError } from "@harnesskit/wire";
import type { Poster } from "./poster.ts";
import { readStream } from "./read-body.ts";

/** `fetch`, as far as it is used here. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const platformFetch = (): Fetch => {
  if (typeof globalThis.fetch !== "function")
    throw new InvalidArgumentError("this platform has no fetch: pass one");
  return (url, init) => globalThis.fetch(url, init);
};

/** Posts with `fetch`. No cookie and no referrer goes along, and no redirect is followed. */
export const createFetchPoster = (url: URL, fetch: Fetch = platformFetch()): Poster => ({
  async post({ headers, body, onStart }) {
    const abort = new AbortController();
    onStart(() => abort.abort());
    const response = await fetch(url.href, {
      method: "POST",
      headers,
      body,
      signal: abort.signal,
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
    });
    return {
      status: response.type === "opaqueredirect" ? 0 : response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      async read(maxBytes) {
        if (!response.body) return new Uint8Array(0);
        const bytes = await readStream(response.body, maxBytes);
        if (!bytes) throw new FrameTooLargeError(maxBytes);
        return bytes;
      },
      discard: () => void response.body?.cancel().catch(() => {}),
    };
  },
  close() {},
});
