import { defineOptions } from "@harnesskit/wire";
import type { TcpListenerOptions } from "./tcp-listener.ts";
import type { TcpTransportOptions } from "./tcp-transport.ts";
import type { UnixListenerOptions } from "./unix-listener.ts";
import type { UnixTransportOptions } from "./unix-transport.ts";

const channel = {
  framing: { "length-prefix": true, newline: true },
  maxFrameBytes: false,
  maxDepth: false,
  maxBufferedBytes: false,
  closeTimeoutMs: false,
  clock: false,
} as const;
const listener = { ...channel, maxConnections: false, onError: false } as const;
const transport = { ...channel, connectTimeoutMs: false } as const;

export const checkTcpListenerOptions = defineOptions<TcpListenerOptions>("createTcpListener", {
  ...listener,
  host: false,
  port: false,
});

export const checkTcpTransportOptions = defineOptions<TcpTransportOptions>("createTcpTransport", {
  ...transport,
  host: false,
  port: true,
});

export const checkUnixListenerOptions = defineOptions<UnixListenerOptions>("createUnixListener", {
  ...listener,
  path: true,
});

export const checkUnixTransportOptions = defineOptions<UnixTransportOptions>("createUnixTransport", {
  ...transport,
  path: true,
});
