import type { InvocationInfo, SuspendDescriptor, SuspendOptions } from "./context.ts";

/** What is known of the place in which asynchronous code runs. */
export interface AmbientScope {
  readonly info: InvocationInfo;
  suspend(descriptor: SuspendDescriptor, options?: SuspendOptions): never;
}

/** What carries a scope along asynchronous calls: `AsyncLocalStorage` on Node. */
export interface AmbientStorage {
  run<T>(scope: AmbientScope, callback: () => T): T;
  getStore(): AmbientScope | undefined;
}

let storage: AmbientStorage | undefined;

/** Has every invocation that starts from now on carry its scope along. */
export const installAmbientStorage = (installed: AmbientStorage): void => {
  storage = installed;
};

/** Calls with a scope, where there is what carries it. */
export const runIn = <T>(scope: AmbientScope, callback: () => T): T =>
  storage === undefined ? callback() : storage.run(scope, callback);
