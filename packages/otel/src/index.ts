export { type LogFields, logFields } from "./log-fields.ts";
export { conventionsVersion, type Mapping, mapping } from "./mapping.ts";
export type { OtelOptions } from "./otel-tracer.ts";
export { registerOtel, unregisterOtel } from "./register-otel.ts";
