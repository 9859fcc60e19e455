import { displayText } from "@harnesskit/wire";
import stringWidth from "fast-string-width";
import type { Choice, ChooseOptions, Chosen } from "./choose.ts";
import type { Key } from "./keys.ts";
import { createTerminal, type Terminal } from "./terminal.ts";
import { oneLine } from "./text.ts";

/** Rows of the screen that are left to what stands above the choices. */
const otherRows = 6;
const minShown = 3;

const isOneLine = (text: string): boolean => displayText(text) === text;

/** Choices as they are shown at a terminal, and what each key does to them. */
export class ChoiceList<T> {
  readonly #options: ChooseOptions<T>;
  readonly #terminal: Terminal;
  #at: number;
  #filter = "";
  #rows = 0;

  constructor(options: ChooseOptions<T>) {
    this.#options = options;
    this.#terminal = createTerminal(options.output);
    this.#at = Math.max(
      0,
      options.choices.findIndex(({ value }) => value === options.initial),
    );
  }

  get #found(): readonly Choice<T>[] {
    const wanted = this.#filter.toLowerCase();
    return this.#options.choices.filter(({ label }) => label.toLowerCase().includes(wanted));
  }

  /** What the key chooses; undefined where the question goes on. */
  press(key: Key): Chosen<T> | undefined {
    const { leave, isFiltered } = this.#options;
    switch (key.name) {
      case "interrupt":
        return "interrupted";
      case "escape":
        if (this.#filter !== "") this.#narrow("");
        else if (leave !== undefined) return "left";
        return undefined;
      case "enter": {
        const chosen = this.#found[this.#at];
        return chosen && { value: chosen.value };
      }
      case "up":
      case "down":
        this.#move(key.name === "up" ? -1 : 1);
        return undefined;
      case "erase":
        this.#narrow([...this.#filter].slice(0, -1).join(""));
        return undefined;
      case "paste":
        if (isFiltered && isOneLine(key.text)) this.#narrow(this.#filter + key.text);
        return undefined;
      case "text":
        if (!isFiltered) return this.#byKey(key.text.toLowerCase());
        this.#narrow(this.#filter + key.text);
    }
    return undefined;
  }

  draw(): void {
    this.#erase();
    this.#rows = this.#terminal.say(this.#lines());
  }

  /** What it has drawn stays: something else writes below it. */
  leave(): void {
    this.#rows = 0;
  }

  /** Leaves the answer in one line in the place of the choices, or nothing of them. */
  end(value: T | undefined): void {
    this.#erase();
    const chosen = this.#options.choices.find((choice) => choice.value === value);
    if (chosen === undefined) return;
    const { style, columns = 80 } = this.#terminal;
    const { message } = this.#options;
    const label = oneLine(chosen.label, Math.max(20, columns - stringWidth(message) - 1));
    this.#terminal.say(`${message} ${style.bold(label)}`);
  }

  #byKey(text: string): Chosen<T> | undefined {
    const { choices } = this.#options;
    const chosen = choices.find(({ key }, at) => key === text || String(at + 1) === text);
    return chosen && { value: chosen.value };
  }

  #move(by: number): void {
    this.#at = Math.max(0, Math.min(this.#found.length - 1, this.#at + by));
    this.draw();
  }

  #narrow(filter: string): void {
    if (filter === this.#filter) return;
    this.#filter = filter;
    this.#at = 0;
    this.draw();
  }

  #erase(): void {
    if (this.#rows > 0) this.#terminal.takeBack(this.#rows);
    this.#rows = 0;
  }

  #lines(): string[] {
    const { message, isFiltered, output } = this.#options;
    const { style } = this.#terminal;
    const found = this.#found;
    const room = isFiltered ? Math.max(minShown, (output.rows || 24) - otherRows) : found.length;
    const from = Math.max(0, Math.min(this.#at - Math.floor(room / 2), found.length - room));
    const shown = found.slice(from, from + room).flatMap((choice, at) => this.#choice(choice, from + at));
    const hidden = found.length - Math.min(room, found.length);
    return [
      style.bold(message) + (this.#filter === "" ? "" : ` ${this.#filter}`),
      ...shown,
      ...(found.length === 0 ? ["  Nothing has these letters."] : []),
      style.dim(`  ${hidden > 0 ? `${hidden} more; ` : ""}${this.#keys()}`),
    ];
  }

  #choice({ label, hint }: Choice<T>, at: number): string[] {
    const { isFiltered } = this.#options;
    const { style, columns = 80 } = this.#terminal;
    const isAt = at === this.#at;
    const number = isFiltered ? "" : `${at + 1} `;
    const line = `${isAt ? "›" : " "} ${number}${label}`;
    const painted = isAt ? style.cyan(line) : line;
    if (hint === undefined) return [painted];
    const isShort = stringWidth(line) + stringWidth(hint) + 3 <= columns;
    return isShort ? [`${painted} ${style.dim(`(${hint})`)}`] : [painted, style.dim(`    ${hint}`)];
  }

  /** Which keys work, in words. */
  #keys(): string {
    const { choices, leave, isFiltered } = this.#options;
    const letters = choices.flatMap(({ key }) => key ?? []);
    const direct = isFiltered ? ["type to search"] : [[`1–${choices.length}`, ...letters].join(", ")];
    return ["↑ ↓ and Enter", ...direct, ...(leave === undefined ? [] : [`Esc: ${leave}`])].join("; ");
  }
}
