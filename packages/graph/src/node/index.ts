import { AsyncLocalStorage } from "node:async_hooks";
import { type AmbientScope, installAmbientStorage } from "../run/ambient.ts";
import type { InvocationInfo, SuspendDescriptor, SuspendOptions } from "../run/context.ts";
import { unsupported } from "../run/pause.ts";

const storage = new AsyncLocalStorage<AmbientScope>();
installAmbientStorage(storage);

/** The invocation that the running code belongs to: in nodes, middleware, edges and observers, at any depth of calls. */
export const currentInvocation = (): InvocationInfo | undefined => storage.getStore()?.info;

/**
 * Suspends the node whose body the running code belongs to, as `context.suspend` does. Throws
 * `suspension_in_unsupported_context` outside of an invocation, in middleware, in observers, and where errors are collected.
 */
export const suspend = (descriptor: SuspendDescriptor, options?: SuspendOptions): never => {
  const scope = storage.getStore();
  if (scope === undefined) throw unsupported("this code does not belong to an invocation");
  return scope.suspend(descriptor, options);
};
