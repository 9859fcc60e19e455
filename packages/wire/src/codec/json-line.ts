/** A message and the line that it came in, or goes out as, without the newline. */
export class JsonLine {
  readonly text: string;
  readonly value: unknown;

  /** `text` must be the JSON of `value`, in one line. */
  constructor(text: string, value: unknown) {
    this.text = text;
    this.value = value;
  }
}
