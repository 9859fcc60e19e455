import { defineOptions } from "@harnesskit/wire";
import type { TcpListenerOptions } from "./tcp-listener.ts";
import type { TcpTransportOptions } from "./tcp-transport.ts";
import type { UnixListenerOptions } from "./unix-listener.ts";
import type { UnixTransportOptions } from "./unix-transport.ts";

export const checkTcpListenerOptions = defineOptions<TcpListenerOptions>("createTcpListener", {
  host: false,
  port: false,
  maxConnections: false,
  onError: false,
  framing: { "length-prefix": true, newline: true },
  maxFrameBytes: false,
  maxDepth: false,
  maxBufferedBytes: false,
  closeTimeoutMs: false,
  clock: false,
});

export const checkTcpTransportOptions = defineOptions<TcpTransportOptions>("createTcpTransport", {
  host: false,
  port: true,
  connectTimeoutMs: false,
  framing: { "length-prefix": true, newline: true },
  maxFrameBytes: false,
  maxDepth: false,
  maxBufferedBytes: false,
  closeTimeoutMs: false,
  clock: false,
});

export const checkUnixListenerOptions = defineOptions<UnixListenerOptions>("createUnixListener", {
  path: true,
  maxConnections: false,
  onError: false,
  framing: { "length-prefix": true, newline: true },
  maxFrameBytes: false,
  maxDepth: false,
  maxBufferedBytes: false,
  closeTimeoutMs: false,
  clock: false,
});

export const checkUnixTransportOptions = defineOptions<UnixTransportOptions>("createUnixTransport", {
  path: true,
  connectTimeoutMs: false,
  framing: { "length-prefix": true, newline: true },
  maxFrameBytes: false,
  maxDepth: false,
  maxBufferedBytes: false,
  closeTimeoutMs: false,
  clock: false,
});
