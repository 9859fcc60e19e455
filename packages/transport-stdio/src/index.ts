export { createChildTransport } from "./child-transport.ts";
export type { ChildContext, ChildTransportOptions } from "./child-transport-options.ts";
export { type ChildExit, ChildExitError, ParentGoneError } from "./errors.ts";
export { createStdioChannel, type StdioChannelOptions, type StdioContext } from "./stdio-channel.ts";
