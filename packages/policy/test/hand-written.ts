import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { type Policy, parsePolicy } from "../src/index.ts";
import { toolEvent } from "./support/policies.ts";

/** The tools of the events, in turn; each has 40 rules, of which 10 have an expression. */
const tools = ["bash", "write", "edit", "fetch", "query"];
const fields: Record<string, string> = {
  bash: "command",
  write: "path",
  edit: "path",
  fetch: "url",
  query: "sql",
};

interface Made {
  readonly name: string;
  readonly tool: string;
  readonly kind: number;
  readonly word: string;
}

const made: Made[] = tools.flatMap((tool) =>
  Array.from({ length: 40 }, (_, index) => ({
    name: `${tool}-${index}`,
    tool: index % 4 === 0 ? tool : `${tool}_${index}`,
    kind: index % 4 === 0 ? (index / 4) % 3 : -1,
    word: `word${index}`,
  })),
);

const celOf = ({ tool, kind, word }: Made): string => {
  const field = `args.${fields[tool]}`;
  if (kind === 0) return `${field}.contains("${word}")`;
  if (kind === 1) return `${field}.startsWith("${word}") && depth < 3`;
  return `size(${field}) > 100 || ${field} == "${word}"`;
};

/** 200 rules, 50 of them with CEL. */
export const rulePolicy = (): Policy => {
  const rules = made.map(
    (rule) =>
      `  - name: ${rule.name}\n    when:\n      tool: ${rule.tool}\n${
        rule.kind === -1 ? "" : `      cel: '${celOf(rule)}'\n`
      }    then: { decision: block, reason: no ${rule.word} }\n`,
  );
  return parsePolicy(`version: 1\ndefaults: { gate: allow }\nrules:\n${rules.join("")}`);
};

interface HandMade {
  readonly decision: string;
  readonly reason?: string;
  readonly metadata: {
    readonly policy: { readonly name: string; readonly rule?: string; readonly why: string };
  };
}

const ofTool = (payload: Record<string, unknown>, field: string): string => {
  const args = payload.arguments;
  if (typeof args !== "object" || args === null) return "";
  const value = (args as Record<string, unknown>)[field];
  return typeof value === "string" ? value : "";
};

/** The same rules, as somebody writes them who has no policy file: asked in order, one after the other. */
export const handWritten = (): ((event: AhpEvent) => HandMade) => {
  const checks = made.map((rule) => {
    const field = fields[rule.tool] ?? fields[rule.tool.split("_")[0] as string] ?? "";
    const { kind, word, tool, name } = rule;
    const block = (): HandMade => ({
      decision: "block",
      reason: `no ${word} (rule ${name})`,
      metadata: { policy: { name: "hand", rule: name, why: tool } },
    });
    const fits = (payload: Record<string, unknown>, depth: number): boolean => {
      if (kind === -1) return true;
      const text = ofTool(payload, field);
      if (kind === 0) return text.includes(word);
      if (kind === 1) return text.startsWith(word) && depth < 3;
      return text.length > 100 || text === word;
    };
    return { tool, block, fits };
  });
  return ({ payload, depth }) => {
    const body = payload as Record<string, unknown>;
    for (const { tool, fits, block } of checks) {
      if (body.tool_name === tool && fits(body, depth)) return block();
    }
    return { decision: "allow", metadata: { policy: { name: "hand", why: "no rule applies" } } };
  };
};

/** Events that go through all rules of their tool, and some that end at one. */
export const ruleEvents = (): AhpEvent[] =>
  tools.flatMap((tool) => {
    const field = fields[tool] as string;
    const texts = ["nothing of note here", "word20 is here", "word24", "quite another text", "src/index.ts"];
    return texts.map((text) => toolEvent(tool, { [field]: text }));
  });
