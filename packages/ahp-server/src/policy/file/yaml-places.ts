import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type LineCounter } from "yaml";
import type { SourcePlace } from "../policy-error.ts";

/** Steps into a document: keys of maps and places in lists. */
export type YamlPath = readonly PropertyKey[];

/** Where the values of a document stand in its text. */
export class YamlPlaces {
  readonly #document: Document;
  readonly #text: string;
  readonly #lines: LineCounter;

  constructor(document: Document, text: string, lines: LineCounter) {
    this.#document = document;
    this.#text = text;
    this.#lines = lines;
  }

  /** The place of a value; of the nearest that is there, if it is missing. */
  placeOf(path: YamlPath): SourcePlace {
    return this.placeOfNode(this.#nodeAt(path));
  }

  /** The place of a key of the map at `path`; of the map, if it has none. */
  placeOfKey(path: YamlPath, key: string): SourcePlace {
    const map = this.#nodeAt(path);
    const pair = isMap(map)
      ? map.items.find((item) => isScalar(item.key) && item.key.value === key)
      : undefined;
    return this.placeOfNode(pair?.key ?? map);
  }

  /** The place of the character at `offset` of a text that is the value at `path`, as far as the spelling tells. */
  placeInText(path: YamlPath, text: string, offset: number): SourcePlace {
    const node = this.#nodeAt(path);
    const start = startOf(node);
    if (start === undefined || !isScalar(node)) return this.placeOfNode(node);
    const before = text.slice(0, offset);
    const lineStart = before.lastIndexOf("\n") + 1;
    const lineEnd = text.indexOf("\n", offset);
    const line = text.slice(lineStart, lineEnd === -1 ? text.length : lineEnd);
    // A line of the value that is spelled in the file as it is tells the column.
    const spelled = this.#text.slice(start, node.range?.[1]);
    const at = line.trim() === "" ? -1 : spelled.indexOf(line);
    return this.#placeAt(at === -1 ? start : start + at + offset - lineStart);
  }

  placeOfNode(node: unknown): SourcePlace {
    return this.#placeAt(startOf(node) ?? startOf(this.#document.contents) ?? 0);
  }

  #placeAt(offset: number): SourcePlace {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }

  #nodeAt(path: YamlPath): unknown {
    let found: unknown = this.#document.contents;
    for (const step of path) {
      const node = isAlias(found) ? found.resolve(this.#document) : found;
      let next: unknown;
      if (isMap(node)) {
        next = node.items.find((item) => isScalar(item.key) && item.key.value === step);
        next = (next as { value?: unknown } | undefined)?.value;
      } else if (isSeq(node) && typeof step === "number") next = node.items[step];
      if (!isNode(next)) return found;
      found = next;
    }
    return found;
  }
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);
