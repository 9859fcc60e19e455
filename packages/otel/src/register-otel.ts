import { setTracer } from "@harnesskit/wire/trace";
import { createOtelTracer, type OtelOptions } from "./otel-tracer.ts";

/** Where `@opentelemetry/api` keeps what an SDK registers. */
const globalApi = Symbol.for("opentelemetry.js.api.1");

/** Whether an SDK is registered with the OpenTelemetry API of this process. */
export const hasOtelSdk = (): boolean => {
  const registered = (globalThis as { [globalApi]?: { trace?: unknown; metrics?: unknown } })[globalApi];
  return registered?.trace !== undefined || registered?.metrics !== undefined;
};

/**
 * Has all roles of this process report to OpenTelemetry, from now on. Call it after the SDK was started. Without an SDK it does nothing
 * and returns false, so that nothing is paid for.
 */
export const registerOtel = (options: OtelOptions = {}): boolean => {
  if (!hasOtelSdk()) return false;
  setTracer(createOtelTracer(options));
  return true;
};

/** Ends the reports. Operations that have begun end as they are. */
export const unregisterOtel = (): void => {
  setTracer(undefined);
};
