import { createUnixTransport } from "@harnesskit/transport-uds";
import { resultMessage } from "./messages.mjs";

const channel = await createUnixTransport({ path: process.env.BENCH_SOCKET }).connect();
channel.start({
  message: (message) => void channel.send(resultMessage(message)),
  error: (error) => console.error(error),
  close: () => process.exit(0),
});
