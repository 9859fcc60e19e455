import {
  type CommandJudgement,
  type CommandPath,
  type CommandReason,
  type CommandVerdict,
  verdictRank,
} from "./judgement.ts";
import { maxListed } from "./limits.ts";
import { displayable, withoutGlobMark } from "./marks.ts";
import { type PathJudgement, type PathPlaces, resolvePath } from "./paths/resolve-path.ts";
import { mayHoldSecrets } from "./paths/secret-paths.ts";
import { noteWritten } from "./paths/written-targets.ts";
import type { JudgeLists } from "./places.ts";
import type { Scope } from "./walk/scope.ts";

/** Streams of the process itself, which are not files. */
const streams = /^\/dev\/(?:null|zero|tty|stdin|stdout|stderr|fd\/\d+)$/;

/** Verdicts that the shipped policy blocks. */
const blocked = /^(?:exfiltration|privilege|destructive)$/;

/** Collects what the walk and the tables of programs find in one command. */
export class Findings {
  readonly lists: JudgeLists;
  /** The folder in which the agent works. */
  readonly workspace: string | undefined;
  readonly #places: PathPlaces;
  readonly #reasons = new Map<string, CommandReason>();
  readonly #programs = new Set<string>();
  readonly #readers = new Set<string>();
  readonly #paths = new Map<string, CommandPath>();
  #worst: CommandVerdict = "read";
  #secrets = false;
  #network = false;
  /** Whether a machine other than this one is reached. */
  #remote = false;
  /** While it is positive, milder reasons are dropped. */
  #suspects = 0;

  constructor(places: PathPlaces, lists: JudgeLists) {
    this.#places = places;
    this.lists = lists;
    this.workspace = places.workspace;
  }

  report(verdict: CommandVerdict, code: string, text: string): void {
    if (this.#suspects > 0 && !blocked.test(verdict)) return;
    if (verdictRank(verdict) > verdictRank(this.#worst)) this.#worst = verdict;
    const safe = displayable(text);
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

  unknown(code: string, text: string): void {
    this.report("unknown", code, text);
  }

  program(name: string): void {
    if (this.#suspects === 0 && this.#programs.size < maxListed) this.#programs.add(displayable(name));
  }

  /** A program reads commands from its input, and that is not in the command. */
  readsCommands(name: string): void {
    if (this.#suspects === 0 && this.#readers.size < maxListed) this.#readers.add(displayable(name));
  }

  secret(code: string, text: string, verdict: CommandVerdict = "read"): void {
    if (this.#suspects > 0) return;
    this.#secrets = true;
    this.report(verdict, code, text);
  }

  network(remote: boolean): void {
    if (remote) this.#remote = true;
    if (this.#suspects === 0) this.#network = true;
  }

  /** The names and attributes at a path are read. */
  list(path: string, scope: Scope): void {
    this.#path(path, "list", scope);
  }

  /** A file is read. */
  read(path: string, scope: Scope): void {
    const found = this.#path(path, "read", scope);
    if (found === undefined) return;
    this.#checkSocket(found.path);
    if (found.secret || mayHoldSecrets(withoutGlobMark(path)))
      this.secret("secret-file", `it reads ${found.path}, which may hold secrets`);
  }

  /** Every file below a folder is read. */
  tree(path: string, scope: Scope): void {
    const found = this.#path(path, "tree", scope);
    if (found !== undefined)
      this.secret("reads-tree", `it reads every file below ${found.path}, files with secrets included`);
  }

  write(path: string, scope: Scope): void {
    const found = this.#path(path, "write", scope);
    if (found === undefined) return;
    this.#checkSocket(found.path);
    noteWritten(this, path, found);
  }

  #checkSocket(path: string): void {
    if (!/^\/dev\/(?:tcp|udp)\//.test(path)) return;
    this.network(true);
    this.report("exfiltration", "sends-data", `it opens a connection to another machine: ${path}`);
  }

  #path(named: string, access: CommandPath["access"], scope: Scope): PathJudgement | undefined {
    const path = withoutGlobMark(named);
    if (path === "-" || streams.test(path)) return undefined;
    const found = resolvePath(path, scope.directories, this.#places);
    if (this.#suspects > 0) return found;
    this.#keepPath(found, access);
    if (found.unknown) this.unknown("unknown-path", `the path ${named} is not known`);
    return found;
  }

  #keepPath(found: PathJudgement, access: CommandPath["access"]): void {
    const { outside, target } = found;
    const path = displayable(found.path);
    const secret = found.secret || access === "tree";
    const key = `${access} ${path}`;
    const maxPaths = outside || secret ? 2 * maxListed : maxListed;
    if (!this.#paths.has(key) && this.#paths.size < maxPaths)
      this.#paths.set(key, { path, access, outside, secret, target });
  }

  /** Runs a function while only what the shipped policy blocks is noted: for strings that may or may not be commands. */
  suspect(look: () => void): void {
    this.#suspects++;
    try {
      look();
    } finally {
      this.#suspects--;
    }
  }

  /** The judgement of a command that starts in a scope. */
  judgement(scope: Scope): CommandJudgement {
    // A command that names no path works where it starts.
    this.#keepPath(resolvePath(".", scope.start, this.#places), "list");
    if (this.#remote && this.#secrets)
      this.report("exfiltration", "sends-secret", "it reads secrets and connects to another machine");
    return {
      verdict: this.#worst,
      reasons: [...this.#reasons.values()].sort((a, b) => verdictRank(b.verdict) - verdictRank(a.verdict)),
      programs: [...this.#programs],
      readsCommands: [...this.#readers],
      paths: [...this.#paths.values()],
      secrets: this.#secrets,
      network: this.#network,
    };
  }
}
