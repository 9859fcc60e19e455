import { toViewLines } from "@harnesskit/approvals";
import type { PolicyState } from "@harnesskit/protocol/hub";
import { createTwoFilesPatch } from "diff";
import { useMemo } from "preact/hooks";
import { line } from "../format.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Button } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Note } from "../parts/note.tsx";
import { useApp } from "../state/app.ts";
import { useAction } from "../state/use-action.ts";

interface SaveDialogProps {
  readonly policy: PolicyState;
  readonly text: string;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Shows what will change in the policy's file, and writes it. */
export function SaveDialog({ policy, text, onSaved, onClose }: SaveDialogProps) {
  const { client } = useApp().link;
  const lines = useMemo(() => {
    const patch = createTwoFilesPatch(policy.file, policy.file, policy.text, text);
    return toViewLines(patch.slice(patch.indexOf("--- ")), true, { maxLines: 2000 });
  }, [policy.text, text]);
  const { isBusy, problem, run } = useAction(async () => {
    await client.call("policy.save", { text, was: policy.text });
    onSaved();
  });
  const save = (
    <Button look="primary" disabled={isBusy} onClick={() => run()}>
      {isBusy ? "Saving …" : "Save and put in force"}
    </Button>
  );
  return (
    <Dialog title="Save the policy" onClose={onClose} close="Cancel" actions={save}>
      <p>
        This is written into <code>{line(policy.file)}</code>, and decides each event from then on.
      </p>
      <CodeBlock part={{ kind: "diff", label: "changes", lines }} />
      {problem !== undefined && <Note tone="bad">{problem}</Note>}
    </Dialog>
  );
}
