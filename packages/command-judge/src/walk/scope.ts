import { maxDirectories } from "../limits.ts";
import { joinPath } from "../paths/resolve-path.ts";

/** What is known where a command runs. */
export class Scope {
  /** Directories of which one is the working directory; undefined where it is not known. */
  directories: readonly string[] | undefined;
  /** The directory in which the script starts. */
  readonly start: readonly string[] | undefined;
  /** The values of variables that are assigned exactly once in the script. */
  readonly variables: Map<string, string>;

  constructor(directories: readonly string[] | undefined, from?: Scope) {
    this.directories = directories;
    this.start = from?.start ?? directories;
    this.variables = new Map(from?.variables);
  }

  /** The scope of a subshell. */
  clone(): Scope {
    return new Scope(this.directories, this);
  }

  /** The scope of another shell, which knows no variables of this one. */
  fresh(): Scope {
    const scope = new Scope(this.directories, this);
    scope.variables.clear();
    return scope;
  }

  /** The scope of a shell on another machine or in a container. */
  elsewhere(): Scope {
    const scope = this.fresh();
    scope.directories = undefined;
    return scope;
  }

  /** Where `cd` to a path leads. */
  arrival(path: string): readonly string[] | undefined {
    const found = this.directories?.map((each) => joinPath(each, path) ?? "");
    return found?.includes("") === true ? undefined : found;
  }

  /** Whatever of two happened: the working directory is in one of both lists. */
  join(other: readonly string[] | undefined): void {
    if (other === undefined || this.directories === undefined) this.directories = undefined;
    else {
      const all = [...new Set([...this.directories, ...other])];
      this.directories = all.length > maxDirectories ? undefined : all;
    }
  }
}
