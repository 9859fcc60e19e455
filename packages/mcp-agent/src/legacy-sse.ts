import { displayText } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { McpError } from "./errors.ts";

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const probeTimeoutMs = 3000;
const maxProbeLength = 8192;

/** How servers without a POST endpoint at a URL refuse one. */
const refusals = new Set([400, 404, 405]);

/** The requests that clients open a connection with. */
const opening = new Set(["initialize", "server/discover"]);

const isOpening = ({ method, body }: RequestInit): boolean => {
  if (method !== "POST" || typeof body !== "string") return false;
  const message: unknown = JSON.parse(body);
  return isObject(message) && opening.has(String(message.method));
};

/** Whether a GET is answered by a stream that begins with an `endpoint` event (MCP 2024-11-05, HTTP with SSE). */
const offersEndpoint = async (url: string | URL, given: RequestInit): Promise<boolean> => {
  const headers = new Headers(given.headers);
  headers.delete("content-type");
  headers.set("accept", "text/event-stream");
  const end = new AbortController();
  const signals = [end.signal, AbortSignal.timeout(probeTimeoutMs), given.signal ?? end.signal];
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.any(signals) });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!response.ok || !isStream || !response.body) return false;
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true });
      if (/^event: ?endpoint[\r\n]/m.test(text)) return true;
      if (text.length > maxProbeLength) return false;
    }
    return false;
  } catch {
    return false;
  } finally {
    end.abort();
  }
};

/**
 * `fetch` that rejects with `mcp.legacy_sse` where the request that opens a connection is refused with HTTP 400, 404 or 405, and the server
 * speaks HTTP with SSE of 2024-11-05 at this URL: one GET with the same headers shows it, within 3 s.
 */
export const refuseLegacySse =
  (send: Fetch): Fetch =>
  async (url, init = {}) => {
    const response = await send(url, init);
    if (!refusals.has(response.status) || !isOpening(init) || !(await offersEndpoint(url, init)))
      return response;
    await response.body?.cancel();
    const { origin, pathname } = new URL(url);
    const shown = displayText(`${origin}${pathname}`, { maxLength: 500 });
    throw new McpError(
      "mcp.legacy_sse",
      `the MCP server ${shown} speaks the legacy transport HTTP with SSE (2024-11-05), which is not supported: use the server's Streamable HTTP address, usually /mcp, or put a proxy in front of it that speaks Streamable HTTP`,
    );
  };
