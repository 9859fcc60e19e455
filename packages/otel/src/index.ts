export { type LogFields, logFields } from "./log-fields.ts";
export { durationMetrics } from "./metrics.ts";
export { type OtelOptions, registerOtel, unregisterOtel } from "./register-otel.ts";
