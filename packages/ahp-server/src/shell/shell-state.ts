import type { Function as FunctionNode } from "unbash";
import { isWatched } from "./environment.ts";
import { maxDirectories } from "./limits.ts";
import { dataMark, unknownMark } from "./marks.ts";
import { WrittenFiles } from "./written-files.ts";

/** A variable's fields; one for a plain variable. */
export type Fields = readonly string[];

const same = (a: Fields | undefined, b: Fields | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    a.length === b.length &&
    a.every((each, index) => each === b[index]));

/** The variables of a shell, and which of them matter to the programs that it starts. */
class Variables extends Map<string, Fields> {
  readonly watched = new Set<string>();

  override set(name: string, value: Fields): this {
    if (isWatched(name)) this.watched.add(name);
    return super.set(name, value);
  }

  /** Takes over all of another shell. */
  take(other: Variables): void {
    for (const [name, value] of other) super.set(name, value);
    for (const name of other.watched) this.watched.add(name);
  }
}

/** What a shell knows at a moment of its run: variables, functions, the working directory, files that were written. */
export class ShellState {
  readonly variables = new Variables();
  readonly functions = new Map<string, readonly FunctionNode[]>();
  /** Functions that some path to here has not defined. */
  readonly doubtful = new Set<string>();
  readonly aliases = new Map<string, string>();
  /** Files that the command itself has written. */
  readonly files: WrittenFiles;
  positional: Fields = [];
  /** Where it may be; undefined where that is not known. */
  directories: readonly string[] | undefined;
  /** Where it is if the `cd` that ran last succeeded. */
  arrived: readonly string[] | undefined;
  /** Whether file descriptor 0 was replaced for all that follows, and by what text. */
  stdin: string | undefined;

  constructor(directories: readonly string[] | undefined, files = new WrittenFiles()) {
    this.directories = directories;
    this.files = files;
  }

  clone(): ShellState {
    const copy = new ShellState(this.directories, this.files);
    copy.variables.take(this.variables);
    for (const [name, value] of this.functions) copy.functions.set(name, value);
    for (const name of this.doubtful) copy.doubtful.add(name);
    for (const [name, value] of this.aliases) copy.aliases.set(name, value);
    copy.positional = this.positional;
    copy.arrived = this.arrived;
    copy.stdin = this.stdin;
    return copy;
  }

  /** Becomes the state after something that may have led to `other` instead: what differs is not known any more. */
  join(other: ShellState): void {
    for (const name of new Set([...this.variables.keys(), ...other.variables.keys()])) {
      if (!same(this.variables.get(name), other.variables.get(name))) this.variables.set(name, [unknownMark]);
    }
    for (const name of other.doubtful) this.doubtful.add(name);
    for (const name of this.functions.keys()) if (!other.functions.has(name)) this.doubtful.add(name);
    for (const [name, nodes] of other.functions) {
      if (!this.functions.has(name)) this.doubtful.add(name);
      const own = this.functions.get(name) ?? [];
      this.functions.set(name, [...new Set([...own, ...nodes])]);
    }
    for (const [name, value] of other.aliases) this.aliases.set(name, value);
    if (!same(this.positional, other.positional)) this.positional = [unknownMark];
    if (this.stdin !== other.stdin) this.stdin = dataMark;
    this.joinDirectories(other.directories);
  }

  joinDirectories(others: readonly string[] | undefined): void {
    const all = new Set([...(this.directories ?? []), ...(others ?? [])]);
    const known = this.directories !== undefined && others !== undefined && all.size <= maxDirectories;
    this.directories = known ? [...all] : undefined;
  }

  /** Whether another state is the same in what loops can change without end. */
  sameAs(other: ShellState): boolean {
    if (!same(this.directories, other.directories) || this.variables.size !== other.variables.size)
      return false;
    if (this.functions.size !== other.functions.size || this.aliases.size !== other.aliases.size)
      return false;
    for (const [name, value] of this.variables) if (!same(value, other.variables.get(name))) return false;
    return true;
  }
}
