/** The longest error answer that is kept, in UTF-16 code units. */
const maxErrorBodyChars = 65_536;

/**
 * A fetch that keeps a key where it belongs: it follows no redirect, which would carry the key's header along,
 * and removes the key from the body of an error answer, which ends up in errors and logs.
 */
export function guardedFetch(
  fetch: typeof globalThis.fetch | undefined,
  apiKey: string | undefined,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await (fetch ?? globalThis.fetch)(input, { ...init, redirect: "manual" });
    if (response.ok || response.status < 200 || response.body === null) return response;
    const { text: raw, cut } = await readBounded(response.body);
    const redacted = redact(raw, apiKey);
    // Where the body was cut, its end may be the first half of a key.
    const text = cut ? redacted.slice(0, -(apiKey?.length ?? 1)) : redacted;
    const headers = new Headers(response.headers);
    // They describe the bytes as they came, and these are others.
    for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
    return new Response(text.slice(0, maxErrorBodyChars), {
      status: response.status,
      statusText: redact(response.statusText, apiKey),
      headers: redactHeaders(headers, apiKey),
    });
  };
}

async function readBounded(body: ReadableStream<Uint8Array>): Promise<{ text: string; cut: boolean }> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (text.length <= maxErrorBodyChars) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), cut: false };
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return { text, cut: true };
}

/** A shorter key is not a provider's but a word such as `none`, which occurs in ordinary text. */
const minKeyLength = 8;

function redact(text: string, apiKey: string | undefined): string {
  return apiKey === undefined || apiKey.length < minKeyLength ? text : text.replaceAll(apiKey, "[redacted]");
}

function redactHeaders(headers: Headers, apiKey: string | undefined): Headers {
  const redacted = new Headers();
  for (const [name, value] of headers) redacted.append(name, redact(value, apiKey));
  return redacted;
}
