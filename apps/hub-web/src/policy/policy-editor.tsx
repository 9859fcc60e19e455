import type { PolicyCheck, PolicyState } from "@harnesskit/protocol/hub";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../parts/controls.tsx";
import { Note } from "../parts/note.tsx";
import { useStore } from "../state/store.ts";
import { useRead } from "../state/use-read.ts";
import { Backtest } from "./backtest.tsx";
import { CodeEditor } from "./code-editor.tsx";
import { policyDraft, wantedRule, withRule } from "./draft.ts";
import { JudgedEvent } from "./judged-event.tsx";
import { SaveDialog } from "./save-dialog.tsx";

const nothing: PolicyCheck = { problems: [], warnings: [], rules: [] };
/** After the last key. */
const checkAfterMs = 200;

/** What the hub says of a text, once it is not changed any more for a moment. Until then it says what it said before. */
const useCheck = (text: string, rowId: number | undefined): PolicyCheck => {
  const [settled, setSettled] = useState({ text, version: 0 });
  useEffect(() => {
    const settle = () => setSettled(({ version }) => ({ text, version: version + 1 }));
    const timer = setTimeout(settle, checkAfterMs);
    return () => clearTimeout(timer);
  }, [text, rowId]);
  const { value, problem } = useRead(
    async (client) =>
      settled.text === "" ? nothing : client.call("policy.check", { text: settled.text, rowId }),
    { version: settled.version },
  );
  return problem === undefined ? (value ?? nothing) : { ...nothing, problems: [{ message: problem }] };
};

interface PolicyEditorProps {
  readonly policy: PolicyState;
  /** The row whose event the draft is tried on. */
  readonly rowId: number | undefined;
  readonly onSaved: () => void;
}

/** Changes the policy: what is wrong at which line, what it decides on an event and on all that happened, and saving it. */
export function PolicyEditor({ policy, rowId, onSaved }: PolicyEditorProps) {
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
  const { problems, warnings, judged, row } = useCheck(text, rowId);
  const isBroken = problems.length > 0;
  const isChanged = text !== policy.text;
  const saved = () => {
    setSaving(false);
    policyDraft.set(undefined);
    onSaved();
  };
  return (
    <section class="panel" aria-label="Edit the policy">
      <h2>Change it, and see what it would decide</h2>
      <CodeEditor
        label="Policy (YAML)"
        value={text}
        notes={isBroken ? problems : warnings}
        isBroken={isBroken}
        onChange={change}
      />
      {row !== undefined && <JudgedEvent row={row} judged={judged} isBroken={isBroken} />}
      {policy.canSave ? (
        <div class="inline">
          <Button look="primary" disabled={!isChanged || isBroken} onClick={() => setSaving(true)}>
            Show the changes and save …
          </Button>
          {isChanged && (
            <Button look="quiet" onClick={() => policyDraft.set(undefined)}>
              Back to the policy in force
            </Button>
          )}
        </div>
      ) : (
        <Note>
          It cannot be saved here: this hub runs with a policy that is not yours. Copy the text into a file,
          and start the hub with <code>--policy FILE</code>.
        </Note>
      )}
      <Backtest text={text} isBroken={isBroken} />
      {isSaving && (
        <SaveDialog policy={policy} text={text} onClose={() => setSaving(false)} onSaved={saved} />
      )}
    </section>
  );
}
