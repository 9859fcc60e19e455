export { AddressInUseError, InsecureDirectoryError, NotASocketError, PathTooLongError } from "./errors.ts";
export { createUnixListener, type UnixListener, type UnixListenerOptions } from "./unix-listener.ts";
export { createUnixTransport, type UnixContext, type UnixTransportOptions } from "./unix-transport.ts";
