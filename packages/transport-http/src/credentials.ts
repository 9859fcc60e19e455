import { InvalidArgumentError } from "@harnesskit/wire";

/** What a client shows: a key (`X-API-Key`) or a token (`Authorization: Bearer`). */
export type HttpCredentials = { readonly apiKey: string } | { readonly bearer: string };

const visible = /^[\x21-\x7e]+$/;

const secretOf = (credentials: HttpCredentials): string => {
  const secret: unknown = "apiKey" in credentials ? credentials.apiKey : credentials.bearer;
  if (typeof secret === "string" && visible.test(secret)) return secret;
  throw new InvalidArgumentError("credentials: must be a string of visible ASCII characters");
};

/** The header that carries the credentials. Throws `invalid_argument` for what no header can carry. */
const credentialHeaders = (credentials: HttpCredentials | undefined): Record<string, string> => {
  if (credentials === undefined) return {};
  const secret = secretOf(credentials);
  return "apiKey" in credentials ? { "x-api-key": secret } : { authorization: `Bearer ${secret}` };
};

/** A copy of the URL whose query carries the credentials. It is a secret itself from then on. */
export const withQueryCredentials = (url: URL, credentials: HttpCredentials): URL => {
  const secret = encodeURIComponent(secretOf(credentials));
  const copy = new URL(url);
  const pair = `${"apiKey" in credentials ? "api_key" : "token"}=${secret}`;
  copy.search = copy.search === "" ? pair : `${copy.search}&${pair}`;
  return copy;
};

const ownHeaders = new Set([
  "accept",
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/** The caller's headers with lower-case names. Throws `invalid_argument` for those that are not the caller's to set. */
export const checkedHeaders = (
  headers: Readonly<Record<string, string>>,
  credentials: HttpCredentials | undefined,
): Record<string, string> => {
  const checked: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (ownHeaders.has(lower) || lower.startsWith("sec-websocket-")) {
      throw new InvalidArgumentError(`the header ${lower} is the transport's own`);
    }
    if (credentials && (lower === "authorization" || lower === "x-api-key")) {
      throw new InvalidArgumentError(`pass credentials or the header ${lower}, not both`);
    }
    if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(lower) || !/^[\t\x20-\x7e]*$/.test(value)) {
      throw new InvalidArgumentError(`a header's name or value cannot be sent (${JSON.stringify(lower)})`);
    }
    checked[lower] = value;
  }
  return { ...checked, ...credentialHeaders(credentials) };
};
