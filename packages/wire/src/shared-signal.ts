interface EventsModule {
  setMaxListeners(count: number, target: AbortSignal): void;
}

interface NodeProcess {
  getBuiltinModule?(name: string): EventsModule | undefined;
}

/**
 * The same signal, to which any number of calls may listen: Node warns of a leak (`MaxListenersExceededWarning`) after ten, and each of
 * ours takes its listener back.
 */
export const sharedSignal = (signal: AbortSignal): AbortSignal => {
  const { process } = globalThis as { readonly process?: NodeProcess };
  process?.getBuiltinModule?.("events")?.setMaxListeners(0, signal);
  return signal;
};
