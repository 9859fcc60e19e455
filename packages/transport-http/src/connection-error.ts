import { type HarnessError, TransportError } from "@harnesskit/wire";
import { causesOf } from "@harnesskit/wire/rpc";
import { HttpReplyError, TlsError } from "./errors.ts";

/** The system's name for what failed, looked for along the causes, as fetch wraps them. */
const systemCodeOf = (cause: unknown): string | undefined =>
  causesOf(cause)
    .map(({ code }) => code)
    .find((code) => typeof code === "string");

const tlsCode =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO$)/;

/** What came is no TLS, such as HTTP. */
const notTls = /^(?:EPROTO|ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG))$/;

const sentenceOf = (endpoint: string, code: string | undefined): string => {
  switch (code) {
    case undefined:
      return `${endpoint} cannot be reached`;
    case "ECONNREFUSED":
      return `nothing listens at ${endpoint}: start the server or pass its port (${code})`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the host of ${endpoint} is not known (${code})`;
    case "ECONNRESET":
    case "EPIPE":
    case "UND_ERR_SOCKET":
      return `${endpoint} broke the connection off (${code})`;
    default:
      return `${endpoint} cannot be reached (${code})`;
  }
};

/** undici's word for it has no code. */
const isParserError = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "name" in cause && cause.name === "HTTPParserError";

/** The error of a failure below HTTP: `transport_failed`, `tls_failed`, or `malformed_reply` for a reply that is not HTTP. */
export const toConnectionError = (endpoint: string, cause: unknown): HarnessError => {
  const code = systemCodeOf(cause);
  if (code !== undefined && tlsCode.test(code)) {
    const how = notTls.test(code) ? ": it does not speak TLS there; is it http: or ws:?" : "";
    return new TlsError(`${endpoint} gives no secure connection (${code})${how}`, { cause });
  }
  if (code?.startsWith("HPE_") || isParserError(cause)) {
    return new HttpReplyError("malformed_reply", `${endpoint} does not answer in HTTP`, { cause });
  }
  return new TransportError(sentenceOf(endpoint, code), { cause });
};
