import type { Verification, VerificationCheck, VerificationStatus } from "@harnesskit/protocol/ahp";
import { definedFields } from "./defined-fields.ts";
import { assertTransition, isTerminal, ReporterError, verificationTransitions } from "./transitions.ts";

/** What a check says beside its status. What is left out stays as it was. */
export type CheckDetails = Partial<Omit<VerificationCheck, "id" | "status">>;

/** A new check; it is pending. */
export type NewCheck = CheckDetails & { readonly subject: string; readonly id?: string };

/** What a verification says beside its status and checks. */
export type VerificationDetails = Partial<Pick<Verification, "artifacts" | "residual_risks" | "metadata">>;

/** One attempt to verify a run. Each change sends it whole, and throws `snapshot_too_large` where that is too long. */
export interface VerificationReporter {
  readonly status: VerificationStatus;
  /** The checks as they were last sent; a copy. */
  readonly checks: readonly VerificationCheck[];
  /** Moves the verification on. Throws `illegal_transition`, `superseded`, `run_ended`. */
  set(status: VerificationStatus, details?: VerificationDetails): void;
  /** Adds a check and gives its id. Throws `duplicate_id`, `superseded`, `run_ended`, and `illegal_transition` after an outcome. */
  addCheck(check: NewCheck): string;
  /**
   * Moves a check on. Throws `illegal_transition`, also after the verification's outcome, `unknown_id`, `superseded`,
   * `run_ended`.
   */
  setCheck(id: string, status: VerificationStatus, details?: CheckDetails): void;
}

export type VerificationSnapshot = Pick<
  Verification,
  "status" | "artifacts" | "residual_risks" | "metadata"
> & {
  readonly checks: VerificationCheck[];
};

export interface VerificationOptions {
  readonly createId: () => string;
  /** Throws `run_ended`, and `superseded` when a later attempt was begun. */
  readonly assertOpen: () => void;
  /** Sends it; throws when it cannot be sent, and then nothing has changed. */
  readonly send: (snapshot: VerificationSnapshot) => void;
}

const detailNames = ["artifacts", "residual_risks", "metadata"] as const;
const checkDetailNames = ["subject", "command", "message", "evidence", "artifacts", "metadata"] as const;

export class VerificationAttempt implements VerificationReporter {
  readonly #options: VerificationOptions;
  #snapshot: VerificationSnapshot = { status: "pending", checks: [] };

  constructor(options: VerificationOptions) {
    this.#options = options;
    options.send(this.#snapshot);
  }

  get status(): VerificationStatus {
    return this.#snapshot.status;
  }

  get checks(): readonly VerificationCheck[] {
    return structuredClone(this.#snapshot.checks);
  }

  set(status: VerificationStatus, details: VerificationDetails = {}): void {
    this.#options.assertOpen();
    assertTransition("the verification", verificationTransitions, this.status, status);
    this.#send({ ...this.#snapshot, ...definedFields(details, detailNames), status });
  }

  addCheck(check: NewCheck): string {
    this.#assertOpen();
    const { id = this.#options.createId(), subject } = check;
    const { checks } = this.#snapshot;
    if (checks.some((each) => each.id === id)) {
      throw new ReporterError("duplicate_id", `there is a check ${JSON.stringify(id)} already`);
    }
    const added = { ...definedFields(check, checkDetailNames), id, subject, status: "pending" as const };
    this.#send({ ...this.#snapshot, checks: [...checks, added] });
    return id;
  }

  setCheck(id: string, status: VerificationStatus, details: CheckDetails = {}): void {
    this.#assertOpen();
    const { checks } = this.#snapshot;
    const check = checks.find((each) => each.id === id);
    if (!check) throw new ReporterError("unknown_id", `there is no check ${JSON.stringify(id)}`);
    assertTransition(`check ${JSON.stringify(id)}`, verificationTransitions, check.status, status);
    const changed = { ...check, ...definedFields(details, checkDetailNames), status };
    this.#send({ ...this.#snapshot, checks: checks.map((each) => (each === check ? changed : each)) });
  }

  #assertOpen(): void {
    this.#options.assertOpen();
    if (!isTerminal(verificationTransitions, this.status)) return;
    throw new ReporterError("illegal_transition", `the verification has its outcome: ${this.status}`);
  }

  #send(snapshot: VerificationSnapshot): void {
    this.#options.send(snapshot);
    // What was sent is JSON, so that it can be cloned; and what its caller changes later was not sent.
    this.#snapshot = structuredClone(snapshot);
  }
}
