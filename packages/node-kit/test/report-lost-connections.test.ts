import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { reportLostConnections } from "../src/index.ts";

it("reports clients that are turned away once, and again after a connection", async () => {
  const server = createServer((socket) => socket.destroy());
  onTestFinished(() => void server.close());
  const errors: Error[] = [];
  reportLostConnections(server, (error) => errors.push(error));
  const lose = () => server.emit("error", Object.assign(new Error("accept EMFILE"), { code: "EMFILE" }));
  lose();
  expect(errors).toEqual([]);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  lose();
  lose();
  expect(errors).toMatchObject([
    {
      name: "TransportError",
      code: "transport_failed",
      message: "clients are turned away (EMFILE): raise the limit of open files (ulimit -n)",
    },
  ]);
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(server, "connection");
  client.destroy();
  lose();
  expect(errors).toHaveLength(2);
});
