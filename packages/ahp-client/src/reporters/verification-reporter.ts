import type { Verification, VerificationCheck, VerificationStatus } from "@harnesskit/protocol/ahp";
import type { CreateId } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import type { ContractSender } from "./contract-sender.ts";
import { assertTransition, isTerminal, ReporterError, verificationTransitions } from "./transitions.ts";

/** The other fields of a check. A field that is left out stays as it was. */
export type CheckDetails = Partial<Omit<VerificationCheck, "id" | "status">>;

/** A new check; it is pending. */
export type NewCheck = CheckDetails & { readonly subject: string; readonly id?: string };

/** The other fields of a verification. */
export type VerificationDetails = Partial<Pick<Verification, "artifacts" | "residual_risks" | "metadata">>;

type Snapshot = VerificationDetails & Pick<Verification, "status"> & { readonly checks: VerificationCheck[] };

interface VerificationOptions {
  readonly createId: CreateId;
  readonly isCurrent: (verification: VerificationReporter) => boolean;
}

/** One attempt to verify a run. Each change sends it whole, and throws `snapshot_too_large` where that is too long. */
export class VerificationReporter {
  readonly #run: ContractSender;
  readonly #options: VerificationOptions;
  #snapshot: Snapshot = { status: "pending", checks: [] };

  /** @internal */
  constructor(run: ContractSender, options: VerificationOptions) {
    this.#run = run;
    this.#options = options;
    this.#send(this.#snapshot);
  }

  get status(): VerificationStatus {
    return this.#snapshot.status;
  }

  /** The checks as they were last sent. */
  get checks(): readonly VerificationCheck[] {
    return this.#snapshot.checks;
  }

  /** Moves the verification on. Throws `illegal_transition`, `superseded`, `run_ended`. */
  set(status: VerificationStatus, details: VerificationDetails = {}): void {
    this.#assertCurrent();
    assertTransition("the verification", verificationTransitions, this.status, status);
    this.#send({ ...this.#snapshot, ...defined(details), status });
  }

  /** Adds a check and returns its id. Throws `duplicate_id`, `superseded`, `run_ended`, and `illegal_transition` after an outcome. */
  addCheck(check: NewCheck): string {
    const { checks } = this.#withoutOutcome();
    const { id = this.#options.createId("check") } = check;
    if (checks.some((each) => each.id === id)) {
      throw new ReporterError("duplicate_id", `there is a check ${JSON.stringify(id)} already`);
    }
    const added: VerificationCheck = { ...defined(check), id, status: "pending" };
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
    const changed = { ...check, ...defined(details), status };
    this.#send({ ...this.#snapshot, checks: checks.map((each) => (each === check ? changed : each)) });
  }

  #assertCurrent(): void {
    this.#run.assertOpen();
    if (this.#options.isCurrent(this)) return;
    throw new ReporterError("superseded", "a later verification of the run was begun");
  }

  #withoutOutcome(): Snapshot {
    this.#assertCurrent();
    if (!isTerminal(verificationTransitions, this.status)) return this.#snapshot;
    throw new ReporterError("illegal_transition", `the verification has its outcome: ${this.status}`);
  }

  #send(snapshot: Snapshot): void {
    this.#run.send("verification", { ...snapshot, updated_at: this.#run.now() });
    this.#snapshot = snapshot;
  }
}
