import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { until } from "../../../test-kit/test-kit.ts";
import { post, postHead, rawClient, startServer, startSocketServer, upgradeHead } from "./support.ts";

/** A server whose handler waits for `release` where the message says so, and all messages that it got. */
const startSlow = async (options: Parameters<typeof startSocketServer>[1] = {}) => {
  const { promise, resolve: release } = createDeferred<void>();
  const handled: unknown[] = [];
  const handle = async (message: unknown) => {
    handled.push(message);
    if ((message as { waits?: true }).waits) await promise;
    return message;
  };
  const started = await startSocketServer({}, { routes: { "/ahp": { handle } }, ...options });
  return Object.assign(started, { handled, release });
};

const connectHead = "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n";
const slow = '{"id":1,"waits":true}';
/** The statuses of all answers, and what each answered. */
const answersIn = (text: string): string =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})|"id":(\d)/g)].map(([, status, id]) => status ?? `#${id}`).join(" ");

describe("behind others on a connection", () => {
  it.each([
    ["no HTTP", () => "garbage\r\n\r\n"],
    ["a head over the limit", () => `GET / HTTP/1.1\r\nX: ${"y".repeat(40_000)}\r\n\r\n`],
    ["a body that breaks off", (port: number) => `${postHead(port, "Transfer-Encoding: chunked")}zz\r\n`],
    ["an upgrade", (port: number) => upgradeHead(port)],
    ["a tunnel", () => connectHead],
  ])("%s closes it, so that no answer is taken for another's", async (_, behind) => {
    await using server = await startSlow();
    const { port, handled, release } = server;
    using client = await rawClient(port);
    client.write(post(port, slow));
    await until(() => handled.length === 1);
    client.write(behind(port));
    await client.untilGone();
    release();
    expect(client.text()).toBe("");
  });

  it.each(["{}", "garbage"])("a body that is not whole is refused at once: %s", async (start) => {
    await using server = await startSlow();
    using client = await rawClient(server.port);
    client.write(
      `${postHead(server.port, "Transfer-Encoding: chunked")}${start.length.toString(16)}\r\n${start}\r\nzz\r\n`,
    );
    expect(await client.status()).toBe(400);
    expect(server.handled).toEqual([]);
  });

  it("a body that breaks off is not answered twice", async () => {
    await using server = await startSlow();
    const { port } = server;
    const refused = postHead(port, "Transfer-Encoding: chunked").replace("Bearer ", "Bearer x");
    for (const before of ["", post(port, '{"id":1}')]) {
      using client = await rawClient(port);
      client.write(before + refused);
      await until(() => client.text().includes("HTTP/1.1 401"));
      client.write("zz\r\n");
      await client.untilGone();
      expect(answersIn(client.text())).toBe(before === "" ? "401" : "200 #1 401");
    }
  });

  it("all that are handled are answered by a server that closes", async () => {
    await using server = await startSlow();
    const { port, handled, release } = server;
    using client = await rawClient(port);
    client.write(post(port, slow) + post(port, '{"id":2}') + post(port, slow));
    await until(() => handled.length === 3);
    const closing = server.close();
    release();
    await closing;
    await client.untilGone();
    expect(answersIn(client.text())).toBe("200 #1 200 #2 200 #1");
  });
});

/** A server whose handler waits for its client to go, and how many such handlers there are. */
const startPatient = async (options: Parameters<typeof startSocketServer>[1] = {}) => {
  const state = { begun: 0, told: 0 };
  const handle = (_message: unknown, { signal }: { readonly signal: AbortSignal }) => {
    state.begun++;
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        state.told++;
        resolve({});
      });
    });
  };
  const started = await startSocketServer({}, { routes: { "/ahp": { handle } }, ...options });
  const untilGone = async () => {
    await until(() => state.told === state.begun && started.server.connections === 0);
    expect(started.server.inFlight).toBe(0);
  };
  return Object.assign(started, { state, untilGone });
};

describe("a client that goes away", () => {
  it.each([
    ["an upgrade", (port: number) => upgradeHead(port)],
    ["a tunnel with much behind it", () => connectHead + "x".repeat(200_000)],
    ["a half head", () => "POST /ahp HT"],
    [
      "a body that is refused before it comes",
      (port: number) =>
        postHead(port, "Content-Length: 1000000").replace("Bearer ", "Bearer x") + "x".repeat(150_000),
    ],
  ])("is seen to go while it waits with %s", async (_, behind) => {
    await using server = await startPatient();
    const { port, state } = server;
    for (const leave of ["destroy", "resetAndDestroy", "end"] as const) {
      using client = await rawClient(port);
      const before = state.begun;
      client.write(post(port, slow));
      await until(() => state.begun === before + 1);
      client.write(behind(port));
      client.socket[leave]();
      await server.untilGone();
    }
  });

  it("is seen to go although small answers wait for the first one", async () => {
    const gone = createDeferred<void>();
    const handled: unknown[] = [];
    const handle = async (message: unknown, { signal }: { readonly signal: AbortSignal }) => {
      handled.push(message);
      if (!(message as { waits?: true }).waits) return { pad: "x".repeat(1000) };
      signal.addEventListener("abort", () => gone.resolve());
      await gone.promise;
      return {};
    };
    await using server = await startServer({ routes: { "/ahp": { handle } } });
    const { port } = server;
    using client = await rawClient(port);
    client.write(post(port, slow));
    for (let count = 1; count <= 8; count++) {
      client.write(post(port, "{}"));
      await until(() => handled.length === count + 1);
    }
    client.socket.resetAndDestroy();
    await gone.promise;
    await until(() => server.server.connections === 0);
    expect(server.server.inFlight).toBe(0);
  });
});

describe("a server of TLS that closes", () => {
  it("does not wait for a client that has not begun its handshake", async () => {
    const [key, cert] = await Promise.all(
      ["key", "cert"].map((name) => readFile(new URL(`fixtures/localhost-${name}.pem`, import.meta.url))),
    );
    if (!key || !cert) expect.fail("no fixtures");
    const { port, close } = await startServer({ tls: { key, cert }, limits: { graceMs: 3_600_000 } });
    const [silent, other] = [
      connect({ port, host: "127.0.0.1" }),
      connectTls({ port, host: "127.0.0.1", ca: cert, servername: "localhost" }),
    ];
    for (const socket of [silent, other]) socket.on("error", () => {});
    const gone = once(silent, "close");
    // The server knows of both by then.
    await Promise.all([once(silent, "connect"), once(other, "secureConnect")]);
    await close();
    await gone;
  });
});

describe("a client that ends its side behind its requests", () => {
  it("gets all answers of what is handled at once over TLS, too", async () => {
    const [key, cert] = await Promise.all(
      ["key", "cert"].map((name) => readFile(new URL(`fixtures/localhost-${name}.pem`, import.meta.url))),
    );
    if (!key || !cert) expect.fail("no fixtures");
    await using server = await startSlow({ tls: { key, cert } });
    const { port } = server;
    for (const count of [1, 3]) {
      const options: ConnectionOptions & { allowHalfOpen: true } = {
        ...{ port, host: "127.0.0.1", ca: cert, servername: "localhost" },
        allowHalfOpen: true,
      };
      const socket = connectTls(options);
      await once(socket, "secureConnect");
      let text = "";
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      socket.end(Array.from({ length: count }, (_, index) => post(port, `{"id":${index}}`)).join(""));
      await once(socket, "end");
      expect(text.split("HTTP/1.1 200")).toHaveLength(count + 1);
      socket.destroy();
    }
  });
});
