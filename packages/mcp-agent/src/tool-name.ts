/** Bytes that a tool's name has as they are; the first one must be no `.` or `-`. */
const plain = /^[A-Za-z0-9_.-]$/;
const plainFirst = /^[A-Za-z0-9_]$/;
const maxNameLength = 128;

const escapeByte = (byte: number): string => `_x${byte.toString(16).padStart(2, "0")}`;

/**
 * The name of a tool of an MCP server as the name of an agent's tool: letters, digits, `_`, `.` and `-` stay, each other
 * byte of its UTF-8 becomes `_x` and two hexadecimal digits, and so does a `_` that looks like the beginning of one. No two
 * names become the same, and {@link toMcpToolName} finds the name again. Undefined for a name that is empty, longer than
 * 128 characters then, or not valid Unicode.
 */
export const toAgentToolName = (name: string): string | undefined => {
  if (name === "" || name.length > maxNameLength || /\p{Cs}/u.test(name)) return undefined;
  const safe = name.replace(/_(?=x[0-9a-f]{2})/g, escapeByte(0x5f));
  let encoded = "";
  for (const byte of Buffer.from(safe)) {
    const character = String.fromCharCode(byte);
    const isPlain = (encoded === "" ? plainFirst : plain).test(character);
    encoded += isPlain ? character : escapeByte(byte);
  }
  return encoded.length <= maxNameLength ? encoded : undefined;
};

/** The name on the MCP server of a tool that has this name on its agent. */
export const toMcpToolName = (name: string): string => {
  const bytes: Buffer[] = [];
  let at = 0;
  for (const match of name.matchAll(/_x([0-9a-f]{2})/g)) {
    bytes.push(Buffer.from(name.slice(at, match.index)), Buffer.from(match[1] ?? "", "hex"));
    at = match.index + match[0].length;
  }
  return Buffer.concat([...bytes, Buffer.from(name.slice(at))]).toString("utf8");
};
