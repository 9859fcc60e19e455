export {
  AddressInUseError,
  InsecureDirectoryError,
  NotASocketError,
  NotLoopbackError,
  PathTooLongError,
} from "./errors.ts";
export type { SocketListener } from "./socket-listener.ts";
export { createTcpListener, type TcpListener, type TcpListenerOptions } from "./tcp-listener.ts";
export { createTcpTransport, type TcpContext, type TcpTransportOptions } from "./tcp-transport.ts";
export { createUnixListener, type UnixListenerOptions } from "./unix-listener.ts";
export { createUnixTransport, type UnixContext, type UnixTransportOptions } from "./unix-transport.ts";
