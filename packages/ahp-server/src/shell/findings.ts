import { maxListed } from "./limits.ts";
import { type PathPlaces, type ResolvedPath, resolvePath } from "./resolve-path.ts";
import {
  type ShellJudgement,
  type ShellPath,
  type ShellReason,
  type ShellVerdict,
  verdictRank,
  worseVerdict,
} from "./verdict.ts";

/** Gathers what is found in one command. */
export class Findings {
  readonly #reasons = new Map<string, ShellReason>();
  readonly #programs = new Set<string>();
  readonly #paths = new Map<string, ShellPath>();
  readonly #places: PathPlaces;
  #verdict: ShellVerdict = "read";
  secrets = false;
  network = false;

  constructor(places: PathPlaces) {
    this.#places = places;
  }

  report(verdict: ShellVerdict, code: string, text: string, at: number | undefined): void {
    this.#verdict = worseVerdict(this.#verdict, verdict);
    const key = `${code} ${text}`;
    if (this.#reasons.has(key)) return;
    if (this.#reasons.size >= maxListed && !this.#makeRoom(verdict)) return;
    this.#reasons.set(key, { code, text, verdict, ...(at === undefined ? {} : { at }) });
  }

  /** Forgets a milder reason, so that the worst is never crowded out by what came before it. */
  #makeRoom(verdict: ShellVerdict): boolean {
    for (const [key, reason] of this.#reasons) {
      if (verdictRank(reason.verdict) < verdictRank(verdict)) return this.#reasons.delete(key);
    }
    return false;
  }

  program(name: string): void {
    if (this.#programs.size < maxListed) this.#programs.add(name);
  }

  path(text: string, access: "read" | "write", directories: readonly string[] | undefined): ResolvedPath {
    const found = resolvePath(text, directories, this.#places);
    const key = `${access} ${found.path}`;
    const { path, outside, secret } = found;
    if (secret && access === "read") this.secrets = true;
    if (
      !this.#paths.has(key) &&
      (this.#paths.size < maxListed || outside || secret) &&
      this.#paths.size < 2 * maxListed
    )
      this.#paths.set(key, { path, access, outside, secret });
    return found;
  }

  judgement(): ShellJudgement {
    const reasons = [...this.#reasons.values()].sort(
      (a, b) => verdictRank(b.verdict) - verdictRank(a.verdict),
    );
    return {
      verdict: this.#verdict,
      reasons: reasons.slice(0, maxListed),
      programs: [...this.#programs],
      paths: [...this.#paths.values()],
      secrets: this.secrets,
      network: this.network,
    };
  }
}
