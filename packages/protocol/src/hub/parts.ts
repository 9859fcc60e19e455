// The parts of the protocol's schemas that its JSON Schema document names and its entry does not export.

export { RowUsageSchema } from "./activity.ts";
export { DeviceRightsSchema } from "./devices.ts";
export { PolicyProblemSchema } from "./policy.ts";
