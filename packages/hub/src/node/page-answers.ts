import { readBody } from "@harnesskit/transport-http";

const maxBodyBytes = 8192;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** Of all that the page is served with. */
export const pageHeaders = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

export const plainAnswer = (
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(`${text}\n`, {
    status,
    headers: {
      ...pageHeaders,
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      ...headers,
    },
  });

export const jsonAnswer = (value: unknown): Response =>
  new Response(JSON.stringify(value), {
    headers: { ...pageHeaders, "content-type": "application/json", "cache-control": "no-store" },
  });

/** The body's JSON; undefined for one that is too large or not JSON. */
export const readJsonBody = async (request: Request): Promise<unknown> => {
  const body = await readBody(request, maxBodyBytes);
  try {
    return body && JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
};
