import { formatAge, line } from "../format.ts";
import { useLoaded } from "../pages/use-loaded.ts";
import { Note } from "../parts/note.tsx";
import type { HubLink } from "../state/hub-link.ts";
import { useNow } from "../state/now.ts";
import { PolicyEditor } from "./policy-editor.tsx";
import { RuleTable } from "./rule-table.tsx";

interface PolicyPageProps {
  readonly link: HubLink;
  /** The row whose event a draft is tried on. */
  readonly id: string | undefined;
}

export function PolicyPage({ link, id }: PolicyPageProps) {
  const nowMs = useNow();
  const { value, problem, reload } = useLoaded(link, () => link.client.call("policy.get"));
  const policy = value?.policy;
  return (
    <main class="page">
      {problem !== undefined && <Note tone="bad">The policy cannot be read: {problem}</Note>}
      {policy === undefined && problem === undefined && <p class="loading dim">Loading …</p>}
      {policy !== undefined && (
        <>
          <header class="page-head">
            <h1>Policy</h1>
            <p class="dim">
              <strong>{line(policy.name, 100)}</strong> from <code>{line(policy.file, 300)}</code>, loaded{" "}
              {formatAge(policy.loadedAtMs, nowMs)}{" "}
              <span class={`chip ${policy.mode === "enforce" ? "good" : "warn"}`}>
                {policy.mode === "enforce" ? "enforced" : "shadow: recorded and not enforced"}
              </span>
            </p>
            <p class="dim small">
              The first rule that applies decides. Limits bound what the rules let pass.
            </p>
          </header>
          <section class="panel flush" aria-label="Rules">
            <RuleTable rules={policy.rules} nowMs={nowMs} />
          </section>
          {link.hello.value?.device === undefined ? (
            <PolicyEditor
              link={link}
              policy={policy}
              rowId={/^\d+$/.test(id ?? "") ? Number(id) : undefined}
              onSaved={reload}
            />
          ) : (
            <Note>The policy is changed on the hub's own machine.</Note>
          )}
        </>
      )}
    </main>
  );
}
