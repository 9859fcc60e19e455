import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * A proxy before the server of a URL with `?host=DIRECTORY` or a host. `cut` says what happens to a message of the client that
 * contains a text: `before` closes the connection instead of passing it on, `after` passes it on and closes the connection before
 * the answer. It happens once for each call.
 */
export const startProxy = async (url: string) => {
  const parsed = new URL(url);
  const directory = parsed.searchParams.get("host");
  const port = parsed.port === "" ? 5432 : Number(parsed.port);
  let rule: { readonly text: string; readonly when: "before" | "after" } | undefined;
  let isDown = false;
  let refused = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (isDown) {
      refused++;
      client.destroy();
      return;
    }
    const upstream =
      directory === null ? connect(port, parsed.hostname) : connect(`${directory}/.s.PGSQL.${port}`);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    let isCut = false;
    client.on("close", () => upstream.end());
    upstream.on("close", () => client.destroy());
    upstream.on("data", (data) => {
      if (isCut) client.destroy();
      else client.write(data);
    });
    client.on("data", (data) => {
      const { when } = rule !== undefined && data.includes(rule.text) ? rule : { when: undefined };
      if (when !== undefined) rule = undefined;
      if (when === "before") {
        client.destroy();
        return;
      }
      if (when === "after") isCut = true;
      upstream.write(data);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = new URL(url);
  own.searchParams.delete("host");
  own.hostname = "127.0.0.1";
  own.port = String((server.address() as AddressInfo).port);
  return {
    url: own.href,
    cut(text: string, when: "before" | "after") {
      rule = { text, when };
    },
    /** Closes all connections; new ones are accepted. */
    cutAll() {
      for (const socket of sockets) socket.destroy();
    },
    /** Refuses new connections from now on. */
    goDown() {
      isDown = true;
    },
    /** How many connections it has refused. */
    get refused() {
      return refused;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
};
