import { readFileSync } from "node:fs";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

/** What publint finds in a tarball. */
export async function publintProblems({ manifest }, tarball) {
  const bytes = readFileSync(tarball);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const { messages } = await publint({ strict: true, pack: { tarball: buffer } });
  return messages.map((message) => `publint: ${formatMessage(message, manifest, { color: false })}`);
}
