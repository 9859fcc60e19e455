import { createInterface, emitKeypressEvents, type Key as TypedKey } from "node:readline";
import { PassThrough } from "node:stream";

/** A key of a terminal that is read in raw mode. `paste` is text that no single key makes. */
export type Key =
  | { readonly name: "up" | "down" | "enter" | "escape" | "erase" | "interrupt" | "suspend" }
  | { readonly name: "text" | "paste"; readonly text: string };

/** How long after Esc the rest of an arrow key's sequence may come. */
export const escapeCodeTimeout = 100;

const names: Readonly<Record<string, "up" | "down" | "enter" | "escape" | "erase">> = {
  up: "up",
  down: "down",
  return: "enter",
  enter: "enter",
  escape: "escape",
  backspace: "erase",
};

const keyOf = (
  text: string | undefined,
  { name = "", sequence = "", ctrl, meta }: TypedKey,
): Key | undefined => {
  if (ctrl) return name === "c" ? { name: "interrupt" } : name === "z" ? { name: "suspend" } : undefined;
  const known = names[name];
  if (known === "escape") return { name: known };
  // With Esc before it a key is another one.
  const isOther = meta || sequence.startsWith("\u001b\u001b");
  if (known !== undefined) return isOther ? undefined : { name: known };
  return text !== undefined && !meta && text >= " " ? { name: "text", text } : undefined;
};

/** Reads what a terminal sends as keys. What comes at once and is more than one letter was pasted, and is given as one `paste`. */
export class KeyParser {
  readonly #input = new PassThrough();
  readonly #timeouts = createInterface({ input: new PassThrough(), escapeCodeTimeout });
  readonly #onKey: (key: Key) => void;
  /** What one chunk has brought so far. */
  #chunk: Key[] | undefined;
  #pasted: string | undefined;

  constructor(onKey: (key: Key) => void) {
    this.#onKey = onKey;
    emitKeypressEvents(this.#input, this.#timeouts);
    this.#input.on("keypress", this.#pressed);
  }

  push(chunk: Buffer | string): void {
    this.#chunk = [];
    this.#input.emit("data", chunk);
    const keys = this.#chunk;
    this.#chunk = undefined;
    const letters = keys.filter(({ name }) => name === "text").length;
    if (letters === 0 || [...chunk.toString()].length === 1) for (const key of keys) this.#onKey(key);
    else if (keys.some(({ name }) => name === "interrupt")) this.#onKey({ name: "interrupt" });
    else this.#onKey({ name: "paste", text: chunk.toString() });
  }

  close(): void {
    this.#input.off("keypress", this.#pressed);
    this.#timeouts.close();
  }

  readonly #pressed = (text: string | undefined, key: TypedKey): void => {
    if (key.name === "paste-start") this.#pasted = "";
    else if (key.name === "paste-end") {
      this.#give({ name: "paste", text: this.#pasted ?? "" });
      this.#pasted = undefined;
    } else if (this.#pasted !== undefined) this.#pasted += key.sequence ?? "";
    else {
      const known = keyOf(text, key);
      if (known !== undefined) this.#give(known);
    }
  };

  /** Esc alone is known to be so after a while, and comes by itself. */
  #give(key: Key): void {
    if (this.#chunk === undefined) this.#onKey(key);
    else this.#chunk.push(key);
  }
}
