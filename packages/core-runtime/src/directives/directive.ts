import { sha256Digest } from "@harnesskit/node-kit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { ToolIdSchema } from "@harnesskit/protocol/runtime";
import { InvalidArgumentError } from "@harnesskit/wire";
import { canonicalJson, isPlainObject } from "@harnesskit/wire/json";
import * as z from "zod";
import { NameSchema, PartySchema, TimeSchema } from "../records/record-fields.ts";

const DirectiveSchema = z.strictObject({
  id: NameSchema,
  tool_id: ToolIdSchema,
  issued_by: PartySchema,
  issued_at: TimeSchema,
  until: TimeSchema,
  /** How many calls may use it. */
  max_uses: z.int().positive(),
  /** How many calls have used it. */
  uses: z.int().nonnegative(),
});

/**
 * What asks for calls of one tool (section 4.2.1, `requires_directive`): issued by someone, for exactly one input or for
 * some of its fields, for a time and a number of uses. Holds digests, never content.
 */
export interface Directive extends Readonly<z.infer<typeof DirectiveSchema>> {
  /** The digest of the whole input, or of the values that some of its fields must have; the others are free. */
  readonly input:
    | { readonly digest: string }
    | { readonly fields: readonly { readonly name: string; readonly digest: string }[] };
  readonly revoked_at?: string | undefined;
  readonly revoked_by?: string | undefined;
}

/** What a directive is issued for. One of `input` and `match` is given; both are kept as digests. */
export interface DirectiveRequest extends Pick<Directive, "tool_id" | "issued_by" | "until"> {
  /** Exactly the input of the call. */
  readonly input?: JsonObject | undefined;
  /** Fields of the input and their values, at least one; its other fields are free. */
  readonly match?: JsonObject | undefined;
  /** @default 1 */
  readonly max_uses?: number | undefined;
  /** What it was issued for, such as an approval, for the audit only. */
  readonly causation_id?: string | undefined;
}

const inputOf = ({ input, match }: DirectiveRequest): Directive["input"] => {
  if ((input === undefined) === (match === undefined)) {
    throw new InvalidArgumentError("directive: give one of input and match");
  }
  if (!isPlainObject(input ?? match)) {
    throw new InvalidArgumentError("directive: the input must be a JSON object");
  }
  if (input !== undefined) return { digest: sha256Digest(canonicalJson(input)) };
  const fields = Object.entries(match ?? {}).map(([name, value]) => ({
    name,
    digest: sha256Digest(canonicalJson(value)),
  }));
  if (fields.length > 0) return { fields };
  throw new InvalidArgumentError("directive: match must name a field");
};

/** A new directive. Throws `invalid_argument` for a field that no directive may have. */
export const toDirective = (request: DirectiveRequest, id: string, issuedAt: string): Directive => {
  const { tool_id, issued_by, until, max_uses = 1 } = request;
  if (!(Date.parse(issuedAt) < Date.parse(until))) {
    throw new InvalidArgumentError("directive: until must be a time to come");
  }
  const input = inputOf(request);
  const made = { id, tool_id, issued_by, issued_at: issuedAt, until, max_uses, uses: 0 };
  const { data, error } = DirectiveSchema.safeParse(made);
  if (data) return { ...data, input };
  const [issue] = error.issues;
  throw new InvalidArgumentError(`directive: ${issue?.path.join(".")} is not valid: ${issue?.message}`);
};
