// Imported by name: a dynamic import of the whole package would put all of it into the files that each command loads.
export { createFileGrants, createMemoryGrants, readManifest, toGrants } from "@harnesskit/core-runtime";
