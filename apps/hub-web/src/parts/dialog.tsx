import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button, CloseButton } from "./controls.tsx";
import { ScrollArea } from "./scroll-area.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** What the button that closes it is called. @default it has none beside the cross */
  readonly close?: string | undefined;
  /** The buttons of the footer. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A dialog over the page. It holds the focus, and Escape closes it. */
export function Dialog({ title, onClose, close, actions, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    element.current?.querySelector("textarea")?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <CloseButton onClose={onClose} />
      </header>
      <ScrollArea className="dialog-body" label={title}>
        {children}
      </ScrollArea>
      {(actions !== undefined || close !== undefined) && (
        <footer>
          {actions}
          {close !== undefined && (
            <Button look="quiet" onClick={onClose}>
              {close}
            </Button>
          )}
        </footer>
      )}
    </dialog>
  );
}
