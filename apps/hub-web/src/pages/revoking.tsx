import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { failureText } from "../state/failures.ts";

export interface Revoking<T> {
  /** What the user is asked about. */
  readonly item: T | undefined;
  /** Why the last one was not revoked. */
  readonly failure: string | undefined;
  readonly ask: (item: T) => void;
  readonly cancel: () => void;
  readonly confirm: () => void;
}

/** Revokes one of a list once the user has confirmed it, and reads the list again. */
export const useRevoking = <T,>(revoke: (item: T) => Promise<unknown>, reload: () => void): Revoking<T> => {
  const [item, setItem] = useState<T>();
  const [failure, setFailure] = useState<string>();
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
  return { item, failure, ask: (next) => setItem(() => next), cancel, confirm: () => void confirm() };
};

interface RevokeDialogProps {
  readonly title: string;
  readonly revoking: Pick<Revoking<never>, "cancel" | "confirm">;
  /** What follows from it. */
  readonly children: ComponentChildren;
}

export function RevokeDialog({ title, revoking: { cancel, confirm }, children }: RevokeDialogProps) {
  return (
    <Dialog
      title={title}
      onClose={cancel}
      footer={
        <>
          <button type="button" class="button refuse" onClick={confirm}>
            Revoke
          </button>
          <button type="button" class="button quiet" onClick={cancel}>
            Cancel
          </button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
