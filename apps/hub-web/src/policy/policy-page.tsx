import { line } from "../format.ts";
import { Age } from "../parts/age.tsx";
import { Note } from "../parts/note.tsx";
import { Page } from "../parts/page.tsx";
import { useDevice } from "../state/app.ts";
import { useRead } from "../state/use-read.ts";
import { PolicyEditor } from "./policy-editor.tsx";
import { RuleTable } from "./rule-table.tsx";

/** The rules in force, and a draft of others; `id` names the row whose event it is tried on. */
export function PolicyPage({ id }: { readonly id: string | undefined }) {
  const device = useDevice();
  const { value, problem, reload } = useRead((client) => client.call("policy.get"));
  const policy = value?.policy;
  const isEnforced = policy?.mode === "enforce";
  const head = policy !== undefined && (
    <>
      <p class="dim">
        <strong>{line(policy.name, 100)}</strong> from <code>{line(policy.file, 300)}</code>, loaded{" "}
        <Age atMs={policy.loadedAtMs} />{" "}
        <span class={`chip ${isEnforced ? "good" : "warn"}`}>
          {isEnforced ? "enforced" : "shadow: recorded and not enforced"}
        </span>
      </p>
      <p class="dim small">The first rule that applies decides. Limits bound what the rules let pass.</p>
    </>
  );
  return (
    <Page title="Policy" head={head} what="policy" problem={problem} isLoading={policy === undefined}>
      {policy !== undefined && (
        <section class="panel flush" aria-label="Rules">
          <RuleTable rules={policy.rules} />
        </section>
      )}
      {policy !== undefined &&
        (device === undefined ? (
          <PolicyEditor
            policy={policy}
            rowId={/^\d+$/.test(id ?? "") ? Number(id) : undefined}
            onSaved={reload}
          />
        ) : (
          <Note>The policy is changed on the hub's own machine.</Note>
        ))}
    </Page>
  );
}
