import { defineOptions } from "@harnesskit/wire";
import type { OtelOptions } from "./otel-tracer.ts";

const otelOptions = { content: false, maxContentLength: false } as const;

export const checkOtelTracerOptions = defineOptions<OtelOptions>("createOtelTracer", otelOptions);

export const checkNodeTelemetryOptions = defineOptions<OtelOptions & { readonly timeoutMs?: number }>(
  "startNodeTelemetry",
  { ...otelOptions, timeoutMs: false },
);
