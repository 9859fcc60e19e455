import { type AuditHead, genesis } from "../../src/audit-head.ts";
import { EntryFormatter } from "../../src/entry-formatter.ts";
import { memoryLimits } from "../../src/limits.ts";
import { BlockBuilder } from "../../src/node/block-builder.ts";
import { createRedactor } from "../../src/redactor.ts";

/** The lines of a log as the sink writes them, with a seal after each of `blocks` many entries. */
export const buildLog = (blocks: readonly number[]): { lines: string[]; head: AuditHead } => {
  const formatter = new EntryFormatter(createRedactor(), memoryLimits.resolve());
  const builder = new BlockBuilder({
    head: genesis,
    unsealed: new Uint8Array(0),
    unsealedLines: 0,
    blockBytes: 128 * 1024,
  });
  let text = "";
  let head = genesis;
  const seal = () => {
    const block = builder.seal();
    if (block === undefined) return;
    text += block.bytes.toString("utf8");
    head = block.head;
  };
  const opening = { format: 1, file: 1, previous_seq: 0, previous_hash: genesis.hash };
  builder.append(formatter.formatOwn("audit.opened", opening, 1, 1_700_000_000_000));
  for (const count of blocks) {
    for (let index = 0; index < count; index++) {
      const seq = builder.seq + 1;
      const entry = {
        action: "tool.call",
        agent_id: "files",
        call_id: `call_${seq}`,
        details: { size_bytes: seq * 7, label: `naïve ${seq}` },
      };
      builder.append(formatter.format(entry, seq, 1_700_000_000_000 + seq));
    }
    seal();
  }
  seal();
  return { lines: text.split("\n").slice(0, -1), head };
};

export const toText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
