import { readStateJson, writeStateJson } from "../state-files.ts";
import { stateDirectory } from "../workspace-directory.ts";

const maxLines = 500;
const maxLineLength = 4_000;

const readLines = async (path: string): Promise<string[]> => {
  const found = await readStateJson(path);
  return Array.isArray(found) ? found.filter((line) => typeof line === "string").slice(0, maxLines) : [];
};

const withLine = (lines: readonly string[], line: string): string[] =>
  [line, ...lines.filter((other) => other !== line)].slice(0, maxLines);

/**
 * What this user wrote in conversations, in a file that only this user reads: up to 500 lines, which the arrow keys bring back. A line that
 * begins with a space is not kept, as in a shell. Without the file a conversation goes on with what it was told itself.
 */
export class LineHistory {
  readonly #path = stateDirectory("history.json");
  #lines: readonly string[] = [];
  #writing: Promise<void> = Promise.resolve();

  /** The last one first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  async load(): Promise<void> {
    this.#lines = await readLines(this.#path);
  }

  /** Another conversation may write meanwhile: its lines stay. */
  add(line: string): void {
    if (line.trim() === "" || line.startsWith(" ") || line.length > maxLineLength) return;
    this.#lines = withLine(this.#lines, line);
    this.#writing = this.#writing.then(() => this.#store(line));
  }

  /** Settles when what was added is stored, or cannot be. Never rejects. */
  saved(): Promise<void> {
    return this.#writing;
  }

  async #store(line: string): Promise<void> {
    try {
      await writeStateJson(this.#path, withLine(await readLines(this.#path), line));
    } catch {
      // A disk that is full takes nothing of the conversation.
    }
  }
}
