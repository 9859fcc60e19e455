import { inspect } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { rejection, thrown } from "../../../test-kit/test-kit.ts";
import { createWebSocketTransport as createPlatformTransport } from "../src/index.ts";
import { createWebSocketTransport } from "../src/node/index.ts";
import { deserted, tcpServer } from "./support.ts";

const secret = "s3cret+/=%20&x-0123456789";
const kinds = [{ bearer: secret }, { apiKey: secret }] as const;

/** Everything that a log could show of a value. */
const shown = (value: unknown): string =>
  inspect(value, { depth: 12, showHidden: true, maxStringLength: null });

const expectNoSecret = (value: unknown): void => {
  for (const form of [secret, encodeURIComponent(secret), "s3cret"]) expect(shown(value)).not.toContain(form);
};

/** The place of a server that answers each connection so. */
const answering = async (head: string): Promise<string> => {
  const server = await tcpServer((socket) => void socket.once("data", () => socket.end(head)));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server.authority;
};

const servers: [string, () => Promise<string>, string][] = [
  ["is not there", deserted, "transport_failed"],
  ["refuses them", () => answering("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n"), "unauthorized"],
  ["speaks no HTTP", () => answering("220 smtp\r\n"), "malformed_reply"],
];

describe("credentials in the query of a WebSocket's URL", () => {
  it.each(servers)("are in no error where the server %s", async (_what, start, code) => {
    for (const credentials of kinds) {
      const url = `ws://${await start()}/ahp`;
      const options = { url, credentials, credentialsIn: "query" } as const;
      const error = await rejection(createWebSocketTransport(options).connect());
      expect(error.code).toBe(code);
      expectNoSecret(error);
      expectNoSecret(error.cause);
      const inUrl = createWebSocketTransport({ url: `${url}?token=${encodeURIComponent(secret)}` });
      expectNoSecret(await rejection(inUrl.connect()));
      const page = createPlatformTransport({ ...options, WebSocket: WebSocket as never });
      expectNoSecret(await rejection(page.connect()));
    }
  });

  it("are in no error about the options", () => {
    for (const url of [
      `ws://u:${secret}@h/`,
      `http://h/?token=${secret}`,
      `nonsense ${secret}`,
      `ws://h/#${secret}`,
    ]) {
      const credentials = { bearer: secret };
      expectNoSecret(thrown(() => createWebSocketTransport({ url, credentials, credentialsIn: "query" })));
    }
    const credentials = { bearer: `${secret}\n` };
    expectNoSecret(
      thrown(() => createWebSocketTransport({ url: "ws://h/", credentials, credentialsIn: "query" })),
    );
  });
});
