import { createRequire } from "node:module";
import { settleWithin } from "@harnesskit/wire/time";
import type { resources } from "@opentelemetry/sdk-node";
import { checkNodeTelemetryOptions } from "../option-names.ts";
import { hasOtelSdk, type OtelOptions, registerOtel, unregisterOtel } from "../register-otel.ts";

/** Telemetry that this process has started. */
export interface NodeTelemetry {
  /** `started`: the SDK runs. `present`: one ran already. `missing`: `@opentelemetry/sdk-node` is not installed. */
  readonly sdk: "started" | "present" | "missing";
  /** Sends what waits, within `timeoutMs`, and ends the reports. Never rejects. */
  close(): Promise<void>;
}

interface Sdk {
  start(): void;
  shutdown(): Promise<void>;
}

/** Longest wait for the last export. */
const defaultTimeoutMs = 3000;

/** Arguments of the process hold what a user asked an agent for. */
const commandArguments = "process.command_args";

/** The detectors of the SDK, from its own dependency: only those before 0.300 export them. */
const loadDetectors = (): typeof resources => {
  const sdk = createRequire(import.meta.url).resolve("@opentelemetry/sdk-node");
  return createRequire(sdk)("@opentelemetry/resources");
};

const loadSdk = async (serviceName: string, content: boolean): Promise<Sdk | undefined> => {
  try {
    const { NodeSDK } = await import("@opentelemetry/sdk-node");
    const { envDetector, hostDetector, processDetector } = loadDetectors();
    const processWithoutArguments: typeof processDetector = {
      detect(config) {
        const { [commandArguments]: _, ...attributes } = processDetector.detect(config).attributes ?? {};
        return { attributes };
      },
    };
    // What the SDK detects by itself, as long as the environment names nothing else.
    const isDefault = !content && !process.env.OTEL_NODE_RESOURCE_DETECTORS;
    const resourceDetectors = [envDetector, processWithoutArguments, hostDetector];
    return new NodeSDK({ serviceName, ...(isDefault && { resourceDetectors }) });
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
};

/**
 * Has all roles of this process report to OpenTelemetry: to the SDK that runs already, or to `@opentelemetry/sdk-node`, which it starts as
 * the environment says (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER`, …). The arguments of the process are no
 * attribute of its resource without `content`, unless `OTEL_NODE_RESOURCE_DETECTORS` asks for them. Rejects as the SDK does.
 *
 * @param serviceName the service, where `OTEL_SERVICE_NAME` names none
 */
export const startNodeTelemetry = async (
  serviceName: string,
  given: OtelOptions & { readonly timeoutMs?: number } = {},
): Promise<NodeTelemetry> => {
  const { timeoutMs = defaultTimeoutMs, ...options } = checkNodeTelemetryOptions(given);
  if (hasOtelSdk()) {
    registerOtel(options);
    return { sdk: "present", close: async () => unregisterOtel() };
  }
  const sdk = await loadSdk(process.env.OTEL_SERVICE_NAME || serviceName, options.content ?? false);
  if (sdk === undefined) return { sdk: "missing", close: async () => {} };
  sdk.start();
  registerOtel(options);
  return {
    sdk: "started",
    async close() {
      unregisterOtel();
      await settleWithin(sdk.shutdown(), { name: "the last export", timeoutMs });
    },
  };
};
