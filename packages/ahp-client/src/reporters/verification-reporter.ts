import type { Verification, VerificationCheck, VerificationStatus } from "@harnesskit/protocol/ahp";
import { defined } from "@harnesskit/wire/json";
import { type ContractSender, withChanged } from "./contract-sender.ts";

/** The other fields of a check. A field that is left out stays as it was. */
export type CheckDetails = Partial<Omit<VerificationCheck, "id" | "status">>;

/** A new check; it is pending. */
export type NewCheck = CheckDetails & { readonly subject: string; readonly id?: string };

/** The other fields of a verification. */
export type VerificationDetails = Partial<Pick<Verification, "artifacts" | "residual_risks" | "metadata">>;

type Snapshot = VerificationDetails & Pick<Verification, "status"> & { readonly checks: VerificationCheck[] };

/** One attempt to verify a run. Each change sends it whole, and throws `snapshot_too_large` where that is too long. */
export class VerificationReporter {
  readonly #run: ContractSender;
  #snapshot: Snapshot = { status: "pending", checks: [] };

  /** @internal */
  constructor(run: ContractSender) {
    this.#run = run;
    this.#send(this.#snapshot);
  }

  get status(): VerificationStatus {
    return this.#snapshot.status;
  }

  /** The checks as they were last sent. */
  get checks(): readonly VerificationCheck[] {
    return this.#snapshot.checks;
  }

  /** Moves the verification on. */
  set(status: VerificationStatus, details: VerificationDetails = {}): void {
    this.#send({ ...this.#snapshot, ...defined(details), status });
  }

  /** Adds a check and returns its id. */
  addCheck(check: NewCheck): string {
    const { checks } = this.#snapshot;
    const { id = `check-${checks.length + 1}` } = check;
    this.#send({ ...this.#snapshot, checks: [...checks, { ...defined(check), id, status: "pending" }] });
    return id;
  }

  /** Moves a check on. Throws `unknown_id`. */
  setCheck(id: string, status: VerificationStatus, details: CheckDetails = {}): void {
    const checks = withChanged(this.#snapshot.checks, id, { ...defined(details), id, status });
    this.#send({ ...this.#snapshot, checks });
  }

  #send(snapshot: Snapshot): void {
    this.#run.send("verification", { ...snapshot, updated_at: this.#run.now() });
    this.#snapshot = snapshot;
  }
}
