export { type NodeTelemetry, startNodeTelemetry } from "./start-node-telemetry.ts";
