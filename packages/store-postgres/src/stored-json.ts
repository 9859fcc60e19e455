import { JsonWriter } from "@harnesskit/wire/json";
import { databaseError } from "./failures.ts";

/** Writes values as JSON of a bounded length. */
export class StoredJson extends JsonWriter {
  readonly #maxLength: number;

  constructor(maxLength: number) {
    super();
    this.#maxLength = maxLength;
  }

  /** Throws `invalid_argument` for what JSON cannot hold, and `too_large`. */
  override text(value: unknown, name: string): string {
    const text = super.text(value, name);
    if (text.length <= this.#maxLength) return text;
    const message = `${name} of ${text.length} characters exceeds maxValueLength of ${this.#maxLength}`;
    throw databaseError("too_large", message);
  }
}
