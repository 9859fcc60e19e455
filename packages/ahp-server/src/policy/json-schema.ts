import * as z from "zod";
import { PolicyFileSchema } from "./file/policy-schema.ts";

/** The JSON Schema of policy files, for editors: `# yaml-language-server: $schema=…`. */
export const policyJsonSchema = (): Record<string, unknown> => ({
  $id: "https://harnesskit.dev/schema/policy.json",
  title: "A policy of an AHP harness",
  ...z.toJSONSchema(PolicyFileSchema, { target: "draft-2020-12", io: "input" }),
});
