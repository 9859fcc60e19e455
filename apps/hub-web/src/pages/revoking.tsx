import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { failureText } from "../state/failures.ts";

/** Revokes one of a list once the user has confirmed it, and reads the list again. `failure`: why the last one was not revoked. */
export const useRevoking = <T,>(revoke: (item: T) => Promise<unknown>, reload: () => void) => {
  const [item, setItem] = useState<T>();
  const [failure, setFailure] = useState<string>();
  const ask = (next: T) => setItem(() => next);
  const cancel = () => setItem(undefined);
  const confirm = async () => {
    if (item === undefined) return;
    cancel();
    try {
      await revoke(item);
      setFailure(undefined);
    } catch (error) {
      setFailure(failureText(error));
    }
    reload();
  };
  return { item, failure, ask, cancel, confirm: () => void confirm() };
};

interface RevokeDialogProps {
  readonly title: string;
  readonly onRevoke: () => void;
  readonly onCancel: () => void;
  /** What follows from it. */
  readonly children: ComponentChildren;
}

export function RevokeDialog({ title, onRevoke, onCancel, children }: RevokeDialogProps) {
  const footer = (
    <>
      <button type="button" class="button refuse" onClick={onRevoke}>
        Revoke
      </button>
      <button type="button" class="button quiet" onClick={onCancel}>
        Cancel
      </button>
    </>
  );
  return (
    <Dialog title={title} onClose={onCancel} footer={footer}>
      {children}
    </Dialog>
  );
}
