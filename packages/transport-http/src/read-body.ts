/** Joins what arrived in pieces; a single piece is not copied. */
export const joinChunks = (chunks: readonly Uint8Array[], length: number): Uint8Array => {
  const [first] = chunks;
  if (first && chunks.length === 1) return first;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
};

/**
 * Reads a web stream to its end. Gives undefined, and cancels it, as soon as more than `maxBytes` arrived. When the
 * signal aborts the stream is cancelled, and what came so far is given.
 */
export const readStream = async (
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Uint8Array | undefined> => {
  const reader = stream.getReader();
  signal?.addEventListener("abort", () => void reader.cancel().catch(() => {}), { once: true });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return joinChunks(chunks, length);
    length += value.length;
    if (length > maxBytes) {
      reader.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(value);
  }
};

/** The body of a request to a `fallback`. Undefined for more than `maxBytes`, whose rest is not read. Rejects as the connection fails. */
export const readBody = async ({ body }: Request, maxBytes: number): Promise<Uint8Array | undefined> =>
  body ? readStream(body, maxBytes) : new Uint8Array();

/** A header's `Content-Length`, or undefined for anything but a number. */
export const toContentLength = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : undefined;

/** True for `application/json`, with no charset or `utf-8`. */
export const isJsonType = (header: string | undefined): boolean => {
  if (header === undefined) return false;
  if (header === "application/json") return true;
  const [type = "", ...parameters] = header.split(";");
  if (type.trim().toLowerCase() !== "application/json") return false;
  return parameters.every((parameter) => {
    const [name = "", value = ""] = parameter.split("=");
    if (name.trim().toLowerCase() !== "charset") return true;
    return /^\s*(?:"utf-?8"|utf-?8)\s*$/i.test(value);
  });
};
