import type { CommandJudgement, CommandPath, CommandReason, CommandVerdict } from "./judgement.ts";
import { verdictRank } from "./judgement.ts";
import { maxListed } from "./limits.ts";
import { shown } from "./marks.ts";
import { type PathPlaces, type ResolvedPath, resolvePath } from "./paths/resolve-path.ts";

/** Collects what is found in one command. */
export class Findings {
  readonly #reasons = new Map<string, CommandReason>();
  readonly #programs = new Set<string>();
  readonly #paths = new Map<string, CommandPath>();
  readonly #places: PathPlaces;
  #worst: CommandVerdict = "read";
  secrets = false;
  network = false;
  /** Whether a machine other than this one is reached. */
  remote = false;

  constructor(places: PathPlaces) {
    this.#places = places;
  }

  report(verdict: CommandVerdict, code: string, text: string): void {
    if (verdictRank(verdict) > verdictRank(this.#worst)) this.#worst = verdict;
    const safe = shown(text);
    const key = `${code} ${safe}`;
    if (this.#reasons.has(key)) return;
    if (this.#reasons.size >= maxListed && !this.#makeRoom(verdict)) return;
    this.#reasons.set(key, { code, text: safe, verdict });
  }

  /** Drops a milder reason, so that the worst is kept. */
  #makeRoom(verdict: CommandVerdict): boolean {
    for (const [key, reason] of this.#reasons)
      if (verdictRank(reason.verdict) < verdictRank(verdict)) return this.#reasons.delete(key);
    return false;
  }

  program(name: string): void {
    if (this.#programs.size < maxListed) this.#programs.add(shown(name));
  }

  resolve(text: string, directories: readonly string[] | undefined): ResolvedPath {
    return resolvePath(text, directories, this.#places);
  }

  path(
    text: string,
    access: CommandPath["access"],
    directories: readonly string[] | undefined,
  ): ResolvedPath {
    const found = this.resolve(text, directories);
    const { outside } = found;
    const path = shown(found.path);
    const secret = found.secret || access === "tree";
    const key = `${access} ${path}`;
    const isWorthKeeping = outside || secret ? 2 * maxListed : maxListed;
    if (!this.#paths.has(key) && this.#paths.size < isWorthKeeping)
      this.#paths.set(key, { path, access, outside, secret });
    return found;
  }

  judgement(): CommandJudgement {
    if (this.remote && this.secrets)
      this.report("exfiltration", "sends-secret", "it reads secrets and connects to another machine");
    const reasons = [...this.#reasons.values()].sort(
      (a, b) => verdictRank(b.verdict) - verdictRank(a.verdict),
    );
    return {
      verdict: this.#worst,
      reasons,
      programs: [...this.#programs],
      paths: [...this.#paths.values()],
      secrets: this.secrets,
      network: this.network,
    };
  }
}
