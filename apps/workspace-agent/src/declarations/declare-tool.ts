import * as z from "zod";
import type { ToolEffects } from "../effects.ts";
import { ExpectedSchema } from "../expected.ts";

export interface ToolDeclarationOptions<Shape extends z.ZodRawShape> {
  readonly name: string;
  readonly description: string;
  readonly effects: ToolEffects;
  /** The fields of the input, as a model is shown them. */
  readonly shape: Shape;
}

/** A declared tool of any input. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  readonly effects: ToolEffects;
  readonly input: z.ZodType;
  readonly callInput: z.ZodType;
}

/** What is known of a tool without its code, so that a program that only shows it need not load that. */
export const declareTool = <const Shape extends z.ZodRawShape>({
  name,
  description,
  effects,
  shape,
}: ToolDeclarationOptions<Shape>) => ({
  name,
  description,
  effects,
  /** What a model writes. */
  input: z.strictObject(shape),
  /** What a call takes: the same, and `expected`. */
  callInput: z.strictObject({ ...shape, expected: ExpectedSchema.exactOptional() }),
});
