import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { inspect } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { checkPostgresSchema, openPostgresStore } from "../src/index.ts";
import { newSchema } from "./support/schema.ts";

const password = "s3cret-pa55word";
const user = "app_user";
const limits = { maxAttempts: 1, connectTimeoutMs: 5000 };

/** Everything that a log could show of an error. */
const shown = (error: unknown): string => {
  const parts = [inspect(error, { depth: 20, showHidden: true }), JSON.stringify(error)];
  for (let each: unknown = error; each instanceof Error; each = each.cause) parts.push(String(each.stack));
  return parts.join("\n");
};

const demandNoSecret = (error: unknown, ...others: readonly string[]) => {
  for (const secret of [password, user, ...others]) expect(shown(error)).not.toContain(secret);
};

const failureOf = (url: string) =>
  openPostgresStore({ url, limits }).then(
    () => expect.fail("it opened"),
    (error: unknown) => error,
  );

/** A server that asks for a password and refuses it, with all of it in its message; or has no TLS. */
const startServer = async () => {
  const sockets = new Set<Socket>();
  const message = (type: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(5, type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on("error", () => {})
      .on("data", (data) => {
        if (data.length === 8) socket.write("N");
        else if (data[0] === "p".charCodeAt(0)) {
          const text = `password ${password} of postgresql://${user} is wrong`;
          socket.end(message("E", Buffer.from(`SFATAL\0C28P01\0M${text}\0D${text}\0\0`)));
        } else socket.write(message("R", Buffer.from([0, 0, 0, 3])));
      });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
};

describe("the connection string is in no error", () => {
  it("of a wrong password", async () => {
    await using server = await startServer();
    const error = await failureOf(`postgresql://${user}:${password}@${server.host}/app`);
    expect(error).toMatchObject({ name: "StoreError", code: "store_failed", reason: "access_denied" });
    demandNoSecret(error, server.host);
  });

  it("of a server without TLS where TLS is required", async () => {
    await using server = await startServer();
    const url = `postgresql://${user}:${password}@${server.host}/app?sslmode=require`;
    const error = await failureOf(url);
    expect(error).toMatchObject({ name: "StoreError", code: "store_failed", reason: "unavailable" });
    demandNoSecret(error, server.host);
  });

  it("of a host that does not exist, or does not answer", async () => {
    const places = {
      "no-such-host.invalid":
        /^the database cannot be reached at no-such-host\.invalid:5432 \((ENOTFOUND|EAI_AGAIN)\)$/,
      "127.0.0.1:1": /^the database cannot be reached at 127\.0\.0\.1:1 \(ECONNREFUSED\)$/,
    };
    for (const [host, message] of Object.entries(places)) {
      const error = await failureOf(`postgresql://${user}:${password}@${host}/app`);
      expect(error).toMatchObject({ name: "StoreError", code: "store_failed", reason: "unavailable" });
      expect(error).toHaveProperty("message", expect.stringMatching(message));
      demandNoSecret(error);
    }
    // What stands where the host is expected is a part of the password.
    const error = await failureOf(`postgresql://127.0.0.1:1/${password}@no-such-host.invalid/app`);
    expect(error).toHaveProperty("message", "the database cannot be reached (ECONNREFUSED)");
    demandNoSecret(error);
  });

  it("of a database that does not exist, nor of one that refuses", async () => {
    await using schema = await newSchema();
    const url = new URL(schema.url);
    url.pathname = "/no_such_database";
    const error = await failureOf(url.href);
    expect(error).toMatchObject({
      name: "StoreError",
      reason: "no_database",
      message: expect.stringMatching(/^the database does not exist: create it/),
    });
    expect(shown(error)).not.toContain("no_such_database");
  });

  it("of a string that cannot be read, of either connection, in any function", async () => {
    const bad = `postgresql://${user}:${password}@[/app`;
    const good = "postgresql://127.0.0.1:1/app";
    for (const opened of [
      openPostgresStore({ url: bad }),
      openPostgresStore({ url: `${user}:${password}` }),
      openPostgresStore({ url: good, listenUrl: bad }),
      openPostgresStore({ url: good, listenUrl: `${user}:${password}` }),
      checkPostgresSchema({ url: bad }),
    ]) {
      const error: unknown = await opened.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "invalid_argument" });
      demandNoSecret(error);
    }
  });

  it("of a connection that listens", async () => {
    await using schema = await newSchema();
    await using server = await startServer();
    const onError = vi.fn();
    const store = await schema.open({
      listenUrl: `postgresql://${user}:${password}@${server.host}/app`,
      onError,
    });
    store.threads.watch?.("ses_1", () => {});
    await vi.waitFor(() => expect(onError).toHaveBeenCalled());
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ name: "StoreError", reason: "access_denied" });
    demandNoSecret(onError.mock.calls[0]?.[0], server.host);
  });
});
