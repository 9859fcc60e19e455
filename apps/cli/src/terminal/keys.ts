/** A key of a terminal that is read in raw mode. `paste` is text that no single key makes. */
export type Key =
  | { readonly name: "up" | "down" | "enter" | "escape" | "erase" | "interrupt" }
  | { readonly name: "text" | "paste"; readonly text: string };

/** How long after Esc the rest of an arrow key's sequence may come. */
const escapeMs = 100;

const esc = "\u001b";
const pasteStart = `${esc}[200~`;
const pasteEnd = `${esc}[201~`;

const ctrlC = "\u0003";

const named: Readonly<Record<string, "up" | "down" | "enter" | "erase" | "interrupt">> = {
  [`${esc}[A`]: "up",
  [`${esc}OA`]: "up",
  [`${esc}[B`]: "down",
  [`${esc}OB`]: "down",
  "\r": "enter",
  "\n": "enter",
  "\u007f": "erase",
  "\b": "erase",
  [ctrlC]: "interrupt",
};

const control = "\\0-\\u001f\\u007f";
const parts = new RegExp(
  `${esc}\\[[\\d;]*[ -/]*[@-~]|${esc}O.|${esc}[^[O]|[${control}]|[^${control}]+`,
  "gu",
);
const unfinished = new RegExp(`${esc}(?:\\[[\\d;]*|O)?$`);

/** Reads what a terminal sends as keys. What comes at once and is more than one letter was pasted, and is given as one `paste`. */
export class KeyParser {
  readonly #onKey: (key: Key) => void;
  #rest = "";
  #pasted: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(onKey: (key: Key) => void) {
    this.#onKey = onKey;
  }

  push(chunk: string): void {
    clearTimeout(this.#timer);
    let text = this.#rest + chunk;
    this.#rest = "";
    if (this.#pasted !== undefined) text = this.#goOnPasting(text);
    const cut = unfinished.exec(text)?.[0];
    if (cut !== undefined) {
      this.#rest = cut;
      text = text.slice(0, -cut.length);
      this.#timer = setTimeout(() => this.#endEscape(), escapeMs);
    }
    this.#read(text);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #endEscape(): void {
    const isEscape = this.#rest === esc;
    this.#rest = "";
    if (isEscape) this.#onKey({ name: "escape" });
  }

  /** Returns what stands behind the paste. */
  #goOnPasting(text: string): string {
    const all = `${this.#pasted}${text}`;
    const end = all.indexOf(pasteEnd);
    this.#pasted = end < 0 ? all : undefined;
    if (end < 0) return "";
    this.#onKey({ name: "paste", text: all.slice(0, end) });
    return all.slice(end + pasteEnd.length);
  }

  #read(text: string): void {
    const start = text.indexOf(pasteStart);
    if (start >= 0) {
      this.#read(text.slice(0, start));
      this.#pasted = "";
      this.push(text.slice(start + pasteStart.length));
      return;
    }
    const found = text.match(parts) ?? [];
    const isTyped = (part: string) => !(part in named) && !part.startsWith(esc) && part >= " ";
    if (found.some((part) => isTyped(part) && (found.length > 1 || [...part].length > 1))) {
      if (found.some((part) => part === ctrlC)) this.#onKey({ name: "interrupt" });
      else this.#onKey({ name: "paste", text });
      return;
    }
    for (const part of found) {
      const name = named[part];
      if (name !== undefined) this.#onKey({ name });
      else if (isTyped(part)) this.#onKey({ name: "text", text: part });
    }
  }
}
