import { findNodeAtLocation, type Node, parseTree } from "jsonc-parser";

/** A node and the JSON that it is in. */
interface Place {
  readonly text: string;
  readonly node: Node;
}

const bodyStart = ({ node }: Place): number => node.offset + 1;
const bodyEnd = ({ node }: Place): number => node.offset + node.length - 1;

/** Spaces that begin the line at `offset`. */
const indentAt = (text: string, offset: number): string => {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
};

const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

/** One step of indentation, as the file has it. */
const stepOf = (text: string): string => /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";

const render = (value: unknown, text: string, indent: string): string =>
  JSON.stringify(value, null, stepOf(text)).replaceAll("\n", `${eolOf(text)}${indent}`);

/**
 * The blanks behind members that were put into an empty container, at the end of their last line. They tell `removeMember` that the container
 * was there; two of them, that the line break before the members was there, too.
 */
const ownBreak = " ";
const givenBreak = "  ";

/** Puts members at the start of an object, or elements at the start of an array. What is there is not touched. */
export const insert = (
  text: string,
  path: readonly (string | number)[],
  members: readonly { readonly key?: string; readonly value: unknown }[],
): string => {
  const node = nodeAt(text, path) as Node;
  const place = { text, node };
  const indent = indentAt(text, node.offset) + stepOf(text);
  const separator = `,${eolOf(text)}${indent}`;
  const pieces = members
    .map(
      ({ key, value }) =>
        `${key === undefined ? "" : `${JSON.stringify(key)}: `}${render(value, text, indent)}`,
    )
    .join(separator);
  if ((node.children ?? []).length === 0) {
    const outer = `${eolOf(text)}${indentAt(text, node.offset)}`;
    const isGiven = text.slice(bodyStart(place), bodyEnd(place)).endsWith(outer);
    const before = isGiven ? stepOf(text) : outer + stepOf(text);
    const behind = (isGiven ? givenBreak : ownBreak) + outer;
    return text.slice(0, bodyEnd(place)) + before + pieces + behind + text.slice(bodyEnd(place));
  }
  return `${text.slice(0, bodyStart(place))}${eolOf(text)}${indent}${pieces},${text.slice(bodyStart(place))}`;
};

/** The node at a path; undefined where it is not there. */
export const nodeAt = (text: string, path: readonly (string | number)[]): Node | undefined => {
  const root = parseTree(text);
  return root && (path.length === 0 ? root : findNodeAtLocation(root, [...path]));
};

/** The first comma at or after `offset`, or before it, outside of comments; there is one. */
const commaBetween = (text: string, from: number, to: number): number => {
  const plain = text
    .slice(from, to)
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\r\n]*/g, (comment) => " ".repeat(comment.length));
  return from + plain.indexOf(",");
};

const startOfBlank = (text: string, offset: number): number => {
  let start = offset;
  while (start > 0 && /\s/.test(text[start - 1] as string)) start--;
  return start;
};

/**
 * Takes out what `insert` put in, and the containers that were written with it: those that are empty now and were not there before. Comments
 * stay.
 */
export const removeMember = (text: string, path: readonly (string | number)[]): string => {
  const found = nodeAt(text, path) as Node;
  const member = found.parent?.type === "property" ? found.parent : found;
  const parent = member.parent;
  // The whole text was ours.
  if (!parent) return "";
  const siblings = parent.children as Node[];
  const index = siblings.indexOf(member);
  const end = member.offset + member.length;
  const place = { text, node: parent };
  if (siblings.length > 1 && index === 0) {
    const next = siblings[1] as Node;
    const comma = commaBetween(text, end, next.offset);
    const between = text.slice(end, comma);
    return text.slice(0, startOfBlank(text, member.offset)) + between + text.slice(comma + 1);
  }
  if (index > 0) {
    const before = siblings[index - 1] as Node;
    const comma = commaBetween(text, before.offset + before.length, member.offset);
    const start = Math.max(comma + 1, startOfBlank(text, member.offset));
    return text.slice(0, comma) + text.slice(comma + 1, start) + text.slice(end);
  }
  const before = text.slice(0, member.offset);
  const behind = text.slice(end, bodyEnd(place));
  const [, mark, outer] = /^( {1,2})(\r?\n[ \t]*)$/.exec(behind) ?? [];
  const lead = /\r?\n[ \t]*$/.exec(before)?.[0];
  if (outer !== undefined && lead?.startsWith(outer)) {
    const kept = mark === givenBreak ? outer : "";
    return before.slice(0, -lead.length) + kept + text.slice(bodyEnd(place));
  }
  const around = text.slice(bodyStart(place), member.offset) + behind;
  const isOurs = end !== bodyEnd(place) && around.trim() === "" && path.length > 1;
  if (isOurs) return removeMember(text, path.slice(0, -1));
  return text.slice(0, member.offset) + text.slice(end);
};
