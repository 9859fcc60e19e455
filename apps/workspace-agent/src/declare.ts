import * as z from "zod";

/** What running a tool may do. */
export type ToolEffects = "read" | "write" | "execute";

export const ExpectedSchema = z
  .strictObject({
    root: z.string().describe("The real path of the workspace"),
    state: z.string().exactOptional().describe("Identifies the content of the file that was shown"),
  })
  .describe(
    "As `prepare` returned it, for an input that `prepare` returned. If the call would not do what was prepared, it " +
      "fails with tool.changed or tool.outside_workspace and does nothing",
  );

/** What `prepare` found: a call that carries it does what was prepared, or nothing. */
export type Expected = z.infer<typeof ExpectedSchema>;

/** What is known of a tool without its code. */
export interface ToolDeclaration<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly effects: ToolEffects;
  /** What a model writes. */
  readonly input: z.ZodType<Input>;
  /** What a call takes: the same, and `expected`. */
  readonly callInput: z.ZodType;
}

export const declare = <const Shape extends z.ZodRawShape>(
  name: string,
  effects: ToolEffects,
  description: string,
  shape: Shape,
) => ({
  name,
  effects,
  description,
  input: z.strictObject(shape),
  callInput: z.strictObject({ ...shape, expected: ExpectedSchema.exactOptional() }),
});

/** A string that UTF-8 can express. */
export const WellFormedSchema = z
  .string()
  .refine((value) => !/\p{Cs}/u.test(value), { error: "is not well-formed Unicode" });
