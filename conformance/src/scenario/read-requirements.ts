import { readdirSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { readYaml } from "./read-yaml.ts";

const RequirementSchema = z
  .strictObject({
    id: z.string(),
    section: z.string(),
    level: z.enum(["MUST", "SAFETY", "SHOULD", "MAY", "FACT", "CHOICE"]),
    text: z.string(),
    /** Where a specification says it, and its own words. */
    source: z.object({ section: z.string(), words: z.string() }).optional(),
    /** The record of the decision, such as `0006`, of a CHOICE; others have a line of the file's `choices`, which are for readers. */
    adr: z.string().optional(),
    /** The requirements without which it cannot be judged: where one of them does not hold, this one is not judged. */
    needs: z
      .string()
      .transform((ids) => ids.split(" "))
      .optional(),
    /** Why no test can see it. */
    untestable: z.string().optional(),
    /** Why no peer can see it; `test` is the file of this repository that does. */
    unobservable: z.string().optional(),
    test: z.string().optional(),
  })
  .refine(({ level, source }) => level !== "MUST" || source !== undefined, {
    error: ({ input }) => `${(input as { id: string }).id} is a MUST and quotes no sentence (source)`,
  });
const FileSchema = z.object({
  protocol: z.string(),
  spec: z.string().optional(),
  requirements: z.array(RequirementSchema),
});

/** One sentence of a specification. */
export type Requirement = z.infer<typeof RequirementSchema> & {
  readonly protocol: string;
  /** The name of the specification. */
  readonly spec: string;
};

/** What a check that does not hold means: a failure for MUST and SAFETY, a warning for SHOULD and FACT, else information. */
export type Severity = "fail" | "warn" | "info";

const severities: Readonly<Record<Requirement["level"], Severity>> = {
  MUST: "fail",
  SAFETY: "fail",
  SHOULD: "warn",
  FACT: "warn",
  MAY: "info",
  CHOICE: "info",
};

export const severityOf = (requirement: Requirement): Severity => severities[requirement.level];

/**
 * Reads the requirement files of these protocols, in the order of the files; all files without `protocols`.
 * @throws {ConformanceError} `invalid_scenario` for a file that cannot be read
 */
export const readRequirements = (
  directory: string,
  protocols?: readonly string[],
): ReadonlyMap<string, Requirement> => {
  const names =
    protocols?.map((protocol) => `${protocol}.yaml`) ??
    readdirSync(directory).filter((name) => name.endsWith(".yaml"));
  const entries = names.flatMap((name) => {
    const file = readYaml(join(directory, name), FileSchema);
    const { protocol, spec = protocol } = file;
    return file.requirements.map((each) => [each.id, { ...each, protocol, spec }] as const);
  });
  return new Map(entries);
};
