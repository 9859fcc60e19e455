/** One thing that a request asks for. */
export type Instruction =
  | { readonly kind: "list"; readonly directory?: string }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "search"; readonly text: string; readonly directory?: string }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "edit"; readonly path: string; readonly oldText: string; readonly newText: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string }
  | { readonly kind: "describe" }
  | { readonly kind: "test" }
  | { readonly kind: "unknown"; readonly text: string; readonly reason?: "ambiguous" };

/** An instruction of one kind. */
export type InstructionOf<Kind extends Instruction["kind"]> = Extract<Instruction, { kind: Kind }>;

/** What a request asks for, in order. */
export interface ParsedRequest {
  readonly instructions: readonly Instruction[];
  /** How many parts beyond `maxInstructions` were left out. */
  readonly leftOut: number;
  /** The request is longer than `maxRequestChars`, and nothing of it was parsed. */
  readonly tooLong: boolean;
}
