import { defineOptions } from "@harnesskit/wire";
import type { OtelOptions } from "./otel-tracer.ts";

export const checkOtelTracerOptions = defineOptions<OtelOptions>("createOtelTracer", {
  content: false,
  maxContentLength: false,
});
