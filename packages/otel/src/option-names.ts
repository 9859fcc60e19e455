import { defineOptions } from "@harnesskit/wire";

import type { OtelOptions } from "./otel-tracer.ts";

export const checkOtelTracerOptions = defineOptions<OtelOptions>("createOtelTracer", {
  content: false,
  maxContentLength: false,
});

const otelOptions = { content: false, maxContentLength: false } as const;

export const checkNodeTelemetryOptions = defineOptions<OtelOptions & { readonly timeoutMs?: number }>(
  "startNodeTelemetry",
  { ...otelOptions, timeoutMs: false },
);
