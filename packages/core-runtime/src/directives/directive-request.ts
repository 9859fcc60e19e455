import { sha256Digest } from "@harnesskit/node-kit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { canonicalJson, isPlainObject } from "@harnesskit/wire/json";
import { type Directive, DirectiveSchema } from "./directive.ts";

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

const directiveInput = ({ input, match }: DirectiveRequest): Directive["input"] => {
  if ((input === undefined) === (match === undefined)) {
    throw new InvalidArgumentError("directive: give one of input and match");
  }
  const given = input ?? match;
  if (!isPlainObject(given)) throw new InvalidArgumentError("directive: the input must be a JSON object");
  if (input !== undefined) return { digest: sha256Digest(canonicalJson(input)) };
  const fields = Object.entries(given).map(([name, value]) => ({
    name,
    digest: sha256Digest(canonicalJson(value)),
  }));
  return { fields: fields.sort((a, b) => (a.name < b.name ? -1 : 1)) };
};

/** The record of a new directive. Throws `invalid_argument` for a field that no directive may have. */
export const toDirective = (request: DirectiveRequest, id: string, issuedAt: string): Directive => {
  const { tool_id, issued_by, until, max_uses = 1 } = request;
  if (!(Date.parse(issuedAt) < Date.parse(until))) {
    throw new InvalidArgumentError("directive: until must be a time to come");
  }
  const input = directiveInput(request);
  const made = { id, tool_id, input, issued_by, issued_at: issuedAt, until, max_uses, uses: 0 };
  const { data, error } = DirectiveSchema.safeParse(made);
  if (data) return data;
  const [issue] = error.issues;
  throw new InvalidArgumentError(`directive: ${issue?.path.join(".")} is not valid: ${issue?.message}`);
};
