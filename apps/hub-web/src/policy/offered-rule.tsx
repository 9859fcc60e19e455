import { type ApprovalRecord, ruleOfAnswer } from "@harnesskit/approvals";
import { line, plainLines } from "../format.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { routeHash } from "../state/route.ts";
import { wantedRule } from "./draft.ts";

/** A rule that the policy may get, and the way to put it there: it is seen with the whole policy before it is saved. */
export function OfferedRule({ rule }: { readonly rule: string }) {
  return (
    <>
      <CodeBlock part={{ kind: "prompt", label: "the rule", lines: plainLines(rule) }} />
      <a class="button" href={routeHash({ page: "policy", filter: {} })} onClick={() => wantedRule.set(rule)}>
        Add it to the policy …
      </a>
    </>
  );
}

/** The policy's rule that an approval can become, before it is put into the policy. */
export function RuleFromAnswer({ record }: { readonly record: ApprovalRecord }) {
  const rule = ruleOfAnswer(record);
  if (rule === undefined) return null;
  return (
    <details class="more">
      <summary>Make a rule from this answer</summary>
      <p>
        It allows <code>{line(rule.covers, 200)}</code>
        {rule.covers.endsWith("*") &&
          " with plain arguments: a command with ;, &&, |, $(, quotes, .. or a new line never matches"}
        , without a question from then on.
      </p>
      <OfferedRule rule={rule.line} />
    </details>
  );
}
