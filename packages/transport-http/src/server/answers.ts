import type { Answer } from "./request-view.ts";

const sentences = {
  400: "The request cannot be understood.",
  401: "Credentials are needed: Authorization: Bearer, or X-API-Key.",
  403: "This host, origin or principal is not allowed.",
  404: "Nothing is served at this path.",
  405: "This path does not take this method.",
  408: "The body did not arrive in time.",
  413: "The message is over the limit.",
  415: "A message is application/json in UTF-8.",
  500: "The request could not be handled.",
  503: "Too many requests at the moment: try again.",
} as const;

/** An answer in these words, which hold nothing of the server or the secret. */
export const plainText = (
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", ...headers },
  body,
});

/** A refusal. It says nothing about the request, the server or the secret. */
export const refuseWith = (
  status: keyof typeof sentences,
  headers: Readonly<Record<string, string>> = {},
): Answer =>
  plainText(
    status,
    headers.allow === undefined
      ? sentences[status]
      : `This path takes ${headers.allow.replace(", ", " or ")}.`,
    headers,
  );

/** What a developer reads whose framework has parsed the body already. */
export const bodyWasRead =
  "The body was read before this handler: mount it before parsers of bodies, such as express.json().";

/** 503 for now. */
export const busy = (): Answer => refuseWith(503, { "retry-after": "1" });

/** 401 with the scheme that is asked for (RFC 9110, 11.6.1); `isShown` where there was a credential (RFC 6750, 3.1). */
export const unauthorized = (isShown: boolean): Answer => {
  const scheme = 'Bearer realm="harness"';
  if (!isShown) return refuseWith(401, { "www-authenticate": scheme });
  const answer = refuseWith(401, { "www-authenticate": `${scheme}, error="invalid_token"` });
  return { ...answer, body: "The credentials are not valid." };
};

/** The headers of an answer with a message, beside {@link commonHeaders}. */
export const jsonHeaders: Readonly<Record<string, string>> = { "content-type": "application/json" };

/** Headers that every answer has. */
export const commonHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};
