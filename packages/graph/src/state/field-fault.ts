/** Why a field refuses a value: its reducer cannot use it, or its schema does not take it. Becomes an error that names the field. */
export class FieldFault {
  constructor(
    readonly kind: "reducer" | "validation",
    readonly message: string,
    readonly cause?: unknown,
  ) {}
}
