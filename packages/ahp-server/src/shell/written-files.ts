import { dataMark, isExact, taintOf } from "./marks.ts";

/** Files that are followed for one command. */
const maxFiles = 256;
/** Contents of one file that are followed side by side. */
const maxContents = 4;

/**
 * What files hold that the command itself has written. One store serves a shell and all that it starts. Which of several
 * writes is the last is not followed: each content stays possible.
 */
export class WrittenFiles {
  readonly #contents = new Map<string, readonly string[]>();
  /** Changes with every change. */
  version = 0;

  has(path: string): boolean {
    return this.#contents.has(path);
  }

  /** What a file holds, or a mark where that may be one of several texts. */
  get(path: string): string | undefined {
    const contents = this.#contents.get(path);
    return contents?.length === 1 ? contents[0] : contents === undefined ? undefined : taintOf(...contents);
  }

  /** Everything that a file may hold. */
  all(path: string): readonly string[] {
    return this.#contents.get(path) ?? [];
  }

  add(path: string, content: string): void {
    const before = this.#contents.get(path) ?? [];
    if (before.includes(content) || (before.length === 0 && this.#contents.size >= maxFiles)) return;
    if (before.length >= maxContents && !before.every(isExact)) return;
    this.#contents.set(path, [
      ...before,
      before.length >= maxContents ? taintOf(content, dataMark) : content,
    ]);
    this.version++;
  }
}
