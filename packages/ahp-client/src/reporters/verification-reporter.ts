import type { Verification, VerificationCheck, VerificationStatus } from "@harnesskit/protocol/ahp";
import { definedFields, type RunContext } from "./snapshot.ts";
import { assertTransition, isTerminal, ReporterError, verificationTransitions } from "./transitions.ts";

/** The other fields of a check. A field that is left out stays as it was. */
export type CheckDetails = Partial<Omit<VerificationCheck, "id" | "status">>;

/** A new check; it is pending. */
export type NewCheck = CheckDetails & { readonly subject: string; readonly id?: string };

/** The other fields of a verification. */
export type VerificationDetails = Partial<Pick<Verification, "artifacts" | "residual_risks" | "metadata">>;

type Snapshot = VerificationDetails & Pick<Verification, "status"> & { readonly checks: VerificationCheck[] };

const detailNames = ["artifacts", "residual_risks", "metadata"] as const;
const checkDetailNames = ["subject", "command", "message", "evidence", "artifacts", "metadata"] as const;

/** One attempt to verify a run. Each change sends it whole, and throws `snapshot_too_large` where that is too long. */
export class VerificationReporter {
  readonly #run: RunContext;
  readonly #isCurrent: (verification: VerificationReporter) => boolean;
  #snapshot: Snapshot = { status: "pending", checks: [] };

  /** @internal */
  constructor(run: RunContext, isCurrent: (verification: VerificationReporter) => boolean) {
    this.#run = run;
    this.#isCurrent = isCurrent;
    this.#send(this.#snapshot);
  }

  get status(): VerificationStatus {
    return this.#snapshot.status;
  }

  /** The checks as they were last sent; a copy. */
  get checks(): readonly VerificationCheck[] {
    return structuredClone(this.#snapshot.checks);
  }

  /** Moves the verification on. Throws `illegal_transition`, `superseded`, `run_ended`. */
  set(status: VerificationStatus, details: VerificationDetails = {}): void {
    this.#assertCurrent();
    assertTransition("the verification", verificationTransitions, this.status, status);
    this.#send({ ...this.#snapshot, ...definedFields(details, detailNames), status });
  }

  /** Adds a check and returns its id. Throws `duplicate_id`, `superseded`, `run_ended`, and `illegal_transition` after an outcome. */
  addCheck(check: NewCheck): string {
    const { checks } = this.#withoutOutcome();
    const { id = this.#run.createId("check"), subject } = check;
    if (checks.some((each) => each.id === id)) {
      throw new ReporterError("duplicate_id", `there is a check ${JSON.stringify(id)} already`);
    }
    const added = { ...definedFields(check, checkDetailNames), id, subject, status: "pending" as const };
    this.#send({ ...this.#snapshot, checks: [...checks, added] });
    return id;
  }

  /**
   * Moves a check on. Throws `illegal_transition`, also after the verification's outcome, `unknown_id`, `superseded`,
   * `run_ended`.
   */
  setCheck(id: string, status: VerificationStatus, details: CheckDetails = {}): void {
    const { checks } = this.#withoutOutcome();
    const check = checks.find((each) => each.id === id);
    if (!check) throw new ReporterError("unknown_id", `there is no check ${JSON.stringify(id)}`);
    assertTransition(`check ${JSON.stringify(id)}`, verificationTransitions, check.status, status);
    const changed = { ...check, ...definedFields(details, checkDetailNames), status };
    this.#send({ ...this.#snapshot, checks: checks.map((each) => (each === check ? changed : each)) });
  }

  #assertCurrent(): void {
    this.#run.assertOpen();
    if (this.#isCurrent(this)) return;
    throw new ReporterError("superseded", "a later verification of the run was begun");
  }

  #withoutOutcome(): Snapshot {
    this.#assertCurrent();
    if (!isTerminal(verificationTransitions, this.status)) return this.#snapshot;
    throw new ReporterError("illegal_transition", `the verification has its outcome: ${this.status}`);
  }

  #send(snapshot: Snapshot): void {
    this.#run.send("verification", { ...snapshot, updated_at: this.#run.now() });
    this.#snapshot = structuredClone(snapshot);
  }
}
