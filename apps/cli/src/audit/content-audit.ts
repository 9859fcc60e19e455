// Imported by name: a dynamic import of the whole package would put all of it into the files that each command loads.
export { contentAuditLimits } from "@harnesskit/policy";
