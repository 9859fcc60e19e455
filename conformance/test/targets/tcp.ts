import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import {
  type Channel,
  type Codec,
  createByteChannel,
  createStreamPipe,
  type Transport,
  TransportError,
} from "@harnesskit/wire";

/** A transport that none of our packages has: loopback TCP, made from a stream as an application would. */
const toChannel = (socket: Socket, codec: Codec): Channel<object> => {
  const pipe = createStreamPipe({
    input: socket,
    output: socket,
    endOutput: true,
    toError: (cause) => new TransportError("the connection broke off", { cause }),
    release: () => void socket.destroy(),
  });
  return createByteChannel(pipe, { codec, context: {} });
};

/** The port of `tcp:127.0.0.1:PORT`. */
const portOf = (endpoint: string): number => Number(endpoint.split(":")[2]);

export const tcpTransport = (endpoint: string, codec: Codec): Transport<object> => ({
  async connect() {
    const socket = connect({ port: portOf(endpoint), host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    await once(socket, "connect");
    return toChannel(socket, codec);
  },
});

export const tcpListener = (endpoint: string, codec: Codec) => {
  const open = new Set<Channel<object>>();
  const server = createServer({ allowHalfOpen: true, noDelay: true });
  return {
    async listen(accept: (channel: Channel<object>) => void): Promise<void> {
      server.on("connection", (socket) => {
        const channel = toChannel(socket, codec);
        open.add(channel);
        void channel.closed.then(() => open.delete(channel));
        accept(channel);
      });
      server.listen(portOf(endpoint), "127.0.0.1");
      await once(server, "listening");
    },
    async close(): Promise<void> {
      server.close();
      await Promise.all([...open].map((channel) => channel.close()));
    },
  };
};
