import { defineOptions } from "@harnesskit/wire";
import type { OtelOptions } from "./register-otel.ts";

const otelOptions = { content: false, maxContentLength: false } as const;

export const checkOtelOptions = defineOptions<OtelOptions>("registerOtel", otelOptions);

export const checkNodeTelemetryOptions = defineOptions<OtelOptions & { readonly timeoutMs?: number }>(
  "startNodeTelemetry",
  { ...otelOptions, timeoutMs: false },
);
