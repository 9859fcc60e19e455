import type { Findings } from "../findings.ts";
import type { CommandVerdict } from "../judgement.ts";
import { withoutGlobMark } from "../marks.ts";
import type { ResolvedPath } from "../paths/resolve-path.ts";
import { mayHoldSecrets } from "../paths/secret-paths.ts";
import { noteWritten } from "../paths/written-targets.ts";
import type { JudgeLists } from "../places.ts";
import type { Scope } from "./scope.ts";

/** Files that are none: streams of the process itself. */
const streams = /^\/dev\/(?:null|zero|tty|stdin|stdout|stderr|fd\/\d+)$/;

/** What the walk and the tables of programs note of a command. */
export class Notes {
  readonly lists: JudgeLists;
  /** The folder in which the agent works. */
  readonly workspace: string | undefined;
  readonly #findings: Findings;
  /** While it is positive, milder reasons are dropped. */
  #suspects = 0;

  constructor(findings: Findings, lists: JudgeLists, workspace: string | undefined) {
    this.#findings = findings;
    this.lists = lists;
    this.workspace = workspace;
  }

  report(verdict: CommandVerdict, code: string, text: string): void {
    if (this.#suspects > 0 && !/^(?:exfiltration|privilege|destructive)$/.test(verdict)) return;
    this.#findings.report(verdict, code, text);
  }

  unknown(code: string, text: string): void {
    this.report("unknown", code, text);
  }

  program(name: string): void {
    if (this.#suspects === 0) this.#findings.program(name);
  }

  secret(code: string, text: string): void {
    if (this.#suspects > 0) return;
    this.#findings.secrets = true;
    this.report("read", code, text);
  }

  network(remote: boolean): void {
    if (remote) this.#findings.remote = true;
    if (this.#suspects === 0) this.#findings.network = true;
  }

  /** Notes that the names and attributes at a path are read. */
  list(path: string, scope: Scope): void {
    this.#path(path, "list", scope);
  }

  /** Notes that a file is read. */
  read(path: string, scope: Scope): void {
    const found = this.#path(path, "read", scope);
    if (found === undefined) return;
    if (/^\/dev\/(?:tcp|udp)\//.test(found.path)) this.#socket(found.path);
    if (found.secret || mayHoldSecrets(withoutGlobMark(path)))
      this.secret("secret-file", `it reads ${found.path}, which may hold secrets`);
  }

  /** Notes that every file below a folder is read. */
  tree(path: string, scope: Scope): void {
    const found = this.#path(path, "tree", scope);
    if (found !== undefined)
      this.secret("reads-tree", `it reads every file below ${found.path}, files with secrets included`);
  }

  write(path: string, scope: Scope): void {
    const found = this.#path(path, "write", scope);
    if (found === undefined) return;
    if (/^\/dev\/(?:tcp|udp)\//.test(found.path)) this.#socket(found.path);
    noteWritten((...reason) => this.report(...reason), path, found);
  }

  #socket(path: string): void {
    this.network(true);
    this.report("exfiltration", "sends-data", `it opens a connection to another machine: ${path}`);
  }

  #path(named: string, access: "list" | "read" | "tree" | "write", scope: Scope): ResolvedPath | undefined {
    const path = withoutGlobMark(named);
    if (path === "-" || streams.test(path)) return undefined;
    if (this.#suspects > 0) return this.#findings.resolve(path, scope.directories);
    const found = this.#findings.path(path, access, scope.directories);
    if (found.unknown) this.unknown("unknown-path", `the path ${named} is not known`);
    return found;
  }

  /** Runs a function while only what the shipped policy blocks is noted: for text of which it is not known what it is. */
  suspect(look: () => void): void {
    this.#suspects++;
    try {
      look();
    } finally {
      this.#suspects--;
    }
  }
}
