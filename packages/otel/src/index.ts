export type { Values } from "./attributes.ts";
export { type LogFields, logFields } from "./log-fields.ts";
export { conventionsVersion, type Mapping, mapping } from "./mapping.ts";
export { createOtelTracer, type OtelOptions } from "./otel-tracer.ts";
export { hasOtelSdk, registerOtel, unregisterOtel } from "./register-otel.ts";
