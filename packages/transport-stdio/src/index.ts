export { type ChildContext, type ChildTransportOptions, createChildTransport } from "./child-transport.ts";

export { type ChildExit, ChildExitError, ParentGoneError } from "./errors.ts";
export { createStdioChannel, type StdioChannelOptions, type StdioContext } from "./stdio-channel.ts";
