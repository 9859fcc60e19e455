/** What a check found. */
export interface Finding {
  readonly check: string;
  /** Only a `problem` makes the doctor fail. */
  readonly status: "ok" | "note" | "problem";
  /** Safe text. */
  readonly text: string;
  /** What to do, about a note too. Safe text. */
  readonly fix?: string;
}

export const ok = (check: string, text: string): Finding => ({ check, status: "ok", text });
export const note = (check: string, text: string): Finding => ({ check, status: "note", text });
export const problem = (check: string, text: string, fix: string): Finding => ({
  check,
  status: "problem",
  text,
  fix,
});
