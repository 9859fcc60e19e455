import type { PolicyCheck, PolicyState } from "@harnesskit/protocol/hub";
import { useEffect, useState } from "preact/hooks";
import { Note } from "../parts/note.tsx";
import { failureText } from "../state/failures.ts";
import type { HubLink } from "../state/hub-link.ts";
import { useStore } from "../state/store.ts";
import { Backtest } from "./backtest.tsx";
import { CodeEditor } from "./code-editor.tsx";
import { policyDraft, wantedRule, withRule } from "./draft.ts";
import { JudgedEvent } from "./judged-event.tsx";
import { SaveDialog } from "./save-dialog.tsx";

const nothing: PolicyCheck = { problems: [], warnings: [], rules: [] };
/** After the last key. */
const checkAfterMs = 200;

/** What the hub says of a text, once it is not changed any more for a moment. */
const useCheck = (link: HubLink, text: string, rowId: number | undefined): PolicyCheck => {
  const state = useStore(link.state);
  const [check, setCheck] = useState(nothing);
  useEffect(() => {
    if (state !== "ready" || text === "") return undefined;
    let isLast = true;
    const timer = setTimeout(() => {
      link.client.call("policy.check", { text, ...(rowId !== undefined && { rowId }) }).then(
        (checked) => isLast && setCheck(checked),
        (error: unknown) => isLast && setCheck({ ...nothing, problems: [{ message: failureText(error) }] }),
      );
    }, checkAfterMs);
    return () => {
      isLast = false;
      clearTimeout(timer);
    };
  }, [link, state, text, rowId]);
  return check;
};

interface PolicyEditorProps {
  readonly link: HubLink;
  readonly policy: PolicyState;
  /** The row whose event the draft is tried on. */
  readonly rowId: number | undefined;
  readonly onSaved: () => void;
}

/** Changes the policy: what is wrong at which line, what it decides on an event and on all that happened, and saving it. */
export function PolicyEditor({ link, policy, rowId, onSaved }: PolicyEditorProps) {
  const draft = useStore(policyDraft);
  const rule = useStore(wantedRule);
  const [isSaving, setSaving] = useState(false);
  const text = draft ?? policy.text;
  const change = (next: string) => policyDraft.set(next === policy.text ? undefined : next);
  useEffect(() => {
    if (rule === undefined) return;
    change(withRule(text, rule));
    wantedRule.set(undefined);
  }, [rule]);
  const { problems, warnings, judged, row } = useCheck(link, text, rowId);
  const isBroken = problems.length > 0;
  const isChanged = text !== policy.text;
  return (
    <section class="panel" aria-label="Edit the policy">
      <header class="panel-head">
        <h2>Change it, and see what it would decide</h2>
      </header>
      <CodeEditor
        label="Policy (YAML)"
        value={text}
        notes={isBroken ? problems : warnings}
        isBroken={isBroken}
        onChange={change}
      />
      {row !== undefined && <JudgedEvent row={row} judged={judged} isBroken={isBroken} />}
      {policy.canSave ? (
        <div class="actions">
          <button
            type="button"
            class="button primary"
            disabled={!isChanged || isBroken}
            onClick={() => setSaving(true)}
          >
            Show the changes and save …
          </button>
          {isChanged && (
            <button type="button" class="button quiet" onClick={() => policyDraft.set(undefined)}>
              Back to the policy in force
            </button>
          )}
        </div>
      ) : (
        <Note>
          It cannot be saved here: this hub runs with a policy that is not yours. Copy the text into a file,
          and start the hub with <code>--policy FILE</code>.
        </Note>
      )}
      <Backtest link={link} text={text} isBroken={isBroken} />
      {isSaving && (
        <SaveDialog
          link={link}
          policy={policy}
          text={text}
          onClose={() => setSaving(false)}
          onSaved={() => {
            setSaving(false);
            policyDraft.set(undefined);
            onSaved();
          }}
        />
      )}
    </section>
  );
}
