import { io } from "./io.ts";
import { note } from "./terminal/terminal.ts";

/** Where `@opentelemetry/api` keeps what an SDK registers. */
const globalApi = Symbol.for("opentelemetry.js.api.1");

const missing =
  "harness: OTEL_EXPORTER_OTLP_ENDPOINT is set, but the OpenTelemetry SDK is not installed beside harness, so nothing is traced. Install it: npm install -g @opentelemetry/api @opentelemetry/sdk-node";

/**
 * Has this process report to OpenTelemetry where `OTEL_EXPORTER_OTLP_ENDPOINT` says where to, or an SDK runs already. Loads nothing
 * otherwise. Never rejects: a command works without telemetry.
 *
 * @param command the first word of the command line, for the name of the service
 */
export const startTelemetry = async (command = ""): Promise<{ close(): Promise<void> } | undefined> => {
  const hasSdk = (globalThis as { [globalApi]?: { trace?: unknown } })[globalApi]?.trace !== undefined;
  if (!hasSdk && !io().env.OTEL_EXPORTER_OTLP_ENDPOINT) return undefined;
  try {
    const { startNodeTelemetry } = await import("@harnesskit/otel/node");
    const content = io().env.HARNESS_OTEL_CONTENT === "true";
    const telemetry = await startNodeTelemetry(`harness ${command}`.trim(), { content });
    if (telemetry.sdk === "missing") note(missing);
    return telemetry;
  } catch (error) {
    const isMissing = (error as { readonly code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
    note(isMissing ? missing : "harness: OpenTelemetry could not be started, so nothing is traced");
    return undefined;
  }
};
