import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type * as z from "zod";
import { ConformanceError, messageOf } from "../errors.ts";

/**
 * Reads a YAML file, or its text, and checks it.
 * @throws {ConformanceError} `invalid_scenario` that names the file and the member that is wrong
 */
export const readYaml = <T>(file: string, schema: z.ZodType<T>, text?: string): T => {
  let content: unknown;
  try {
    content = parse(text ?? readFileSync(file, "utf8"), { merge: true });
  } catch (cause) {
    throw new ConformanceError("invalid_scenario", `${file}: ${messageOf(cause)}`, { cause });
  }
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") ?? "";
  throw new ConformanceError("invalid_scenario", `${file}: ${place}: ${issue?.message ?? "is not valid"}`);
};
