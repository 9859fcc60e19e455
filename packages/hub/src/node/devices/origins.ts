const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether the host of a URL is this machine alone. */
export const isLoopbackUrl = (url: string): boolean => loopback.has(new URL(url).hostname);

/** Whether no network lies between a browser at this origin and its hub, or TLS does. */
export const isSafeOrigin = (origin: string): boolean =>
  new URL(origin).protocol === "https:" || isLoopbackUrl(origin);
