import { toViewLines } from "@harnesskit/approvals";
import type { PolicyState } from "@harnesskit/protocol/hub";
import { createTwoFilesPatch } from "diff";
import { useMemo, useState } from "preact/hooks";
import { line } from "../format.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Note } from "../parts/note.tsx";
import { failureText } from "../state/failures.ts";
import type { HubLink } from "../state/hub-link.ts";

interface SaveDialogProps {
  readonly link: HubLink;
  readonly policy: PolicyState;
  readonly text: string;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Shows what will change in the policy's file, and writes it. */
export function SaveDialog({ link, policy, text, onSaved, onClose }: SaveDialogProps) {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const file = line(policy.file, 300);
  const lines = useMemo(() => {
    const patch = createTwoFilesPatch(policy.file, policy.file, policy.text, text);
    return toViewLines(patch.slice(patch.indexOf("--- ")), true, { maxLines: 2000 });
  }, [policy.text, text]);
  const save = async () => {
    setBusy(true);
    try {
      await link.client.call("policy.save", { text, was: policy.text });
      onSaved();
    } catch (error) {
      setProblem(failureText(error));
      setBusy(false);
    }
  };
  const footer = (
    <>
      <button type="button" class="button primary" disabled={isBusy} onClick={() => void save()}>
        {isBusy ? "Saving …" : "Save and put in force"}
      </button>
      <button type="button" class="button quiet" onClick={onClose}>
        Cancel
      </button>
    </>
  );
  return (
    <Dialog title="Save the policy" onClose={onClose} footer={footer}>
      <p>
        This is written into <code>{file}</code>, and decides each event from then on.
      </p>
      <CodeBlock part={{ kind: "diff", label: "changes", lines }} />
      {problem !== undefined && <Note tone="bad">{problem}</Note>}
    </Dialog>
  );
}
