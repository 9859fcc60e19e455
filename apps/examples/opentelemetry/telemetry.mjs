import { startNodeTelemetry } from "@harnesskit/otel/node";

/** Each process of the example is traced under its own name. Call the result before the process ends. */
export const traceAs = async (name) => (await startNodeTelemetry(name)).close;
