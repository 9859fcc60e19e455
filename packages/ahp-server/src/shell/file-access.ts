import type { Runner } from "./call.ts";
import type { Findings } from "./findings.ts";
import { dataMark, isExact, isSecret, secretMark, shown } from "./marks.ts";
import { joinPath } from "./resolve-path.ts";
import type { ShellState } from "./shell-state.ts";
import { noteWritten, runsLater } from "./written-path.ts";

/** What is written there is in no file. */
const isSink = (path: string): boolean =>
  path === "-" || /^\/dev\/(?:null|stdout|stderr|tty|fd\/\d+)$/.test(path);

/** Notes which files a command opens, and what is known of their contents. */
export class FileAccess {
  readonly #findings: Findings;
  readonly #run: Runner;

  constructor(findings: Findings, run: Runner) {
    this.#findings = findings;
    this.#run = run;
  }

  read(path: string, state: ShellState): string {
    if (path === "-" || /^\/dev\/(?:null|zero|full|u?random|stdin|tty|fd\/0)$/.test(path)) return dataMark;
    const [first] = state.directories ?? [];
    const full = joinPath(first, path);
    const known = full === undefined ? undefined : state.files.get(full);
    if (path.startsWith("/dev/fd/") && known !== undefined) return known;
    const found = this.#findings.path(path, "read", state.directories);
    if (/^\/dev\/(?:tcp|udp)\//.test(path)) {
      this.#run.noteNetwork();
      this.#run.report("exfiltration", "network-socket", `it opens a connection through ${shown(path)}`);
    }
    if (found.unknown)
      this.#run.report("unknown", "unknown-path", `it reads a path that is not known: ${shown(path)}`);
    if (found.secret || isSecret(path)) {
      this.#run.report("read", "secret-file", `it reads ${found.path}, which may hold secrets`);
      return secretMark;
    }
    return known !== undefined && state.directories?.length === 1 ? known : dataMark;
  }

  write(path: string, state: ShellState, content?: string): void {
    if (isSink(path)) return;
    const found = this.#findings.path(path, "write", state.directories);
    noteWritten(this.#run, path, found);
    this.#keep(path, state, content ?? dataMark);
    if (content !== undefined && isExact(content) && runsLater(found.path))
      this.#run.script(content, state.clone(), undefined);
  }

  touch(path: string, state: ShellState): void {
    if (isSink(path)) return;
    noteWritten(this.#run, path, this.#findings.path(path, "write", state.directories));
  }

  #keep(path: string, state: ShellState, content: string): void {
    for (const directory of state.directories ?? []) {
      const full = joinPath(directory, path);
      if (full !== undefined) state.files.add(full, content);
    }
  }
}
