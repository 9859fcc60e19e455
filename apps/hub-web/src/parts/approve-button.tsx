import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.tsx";

/** How long the button is held. */
const holdMs = 800;

interface ApproveButtonProps {
  readonly element?: RefObject<HTMLButtonElement | null>;
  readonly keyShortcut?: string;
  /** Whether a pointer must hold it. */
  readonly isGrave: boolean;
  readonly disabled: boolean;
  readonly onApprove: () => void;
  readonly children: ComponentChildren;
}

/**
 * Approves. What is grave is approved by a finger or a mouse that holds the button; the keyboard's Enter or Space is enough, because it has
 * to move there first.
 */
export function ApproveButton(props: ApproveButtonProps) {
  const { element, keyShortcut, isGrave, disabled, onApprove, children } = props;
  const [isHeld, setHeld] = useState(false);
  const latest = useRef(onApprove);
  latest.current = onApprove;
  useEffect(() => {
    if (!isHeld) return undefined;
    const timer = setTimeout(() => {
      setHeld(false);
      latest.current();
    }, holdMs);
    return () => clearTimeout(timer);
  }, [isHeld]);
  const release = () => setHeld(false);
  return (
    <button
      ref={element ?? null}
      type="button"
      class={`button primary ${isGrave ? "hold" : ""} ${isHeld ? "held" : ""}`}
      disabled={disabled}
      aria-keyshortcuts={keyShortcut}
      onPointerDown={({ button }) => setHeld(isGrave && button === 0)}
      onPointerUp={release}
      onPointerLeave={release}
      onPointerCancel={release}
      onContextMenu={(event) => isGrave && event.preventDefault()}
      // Without a pointer: a key, or a screen reader.
      onClick={({ detail }) => (detail === 0 || !isGrave) && onApprove()}
    >
      <Icon name="check" />
      {children}
    </button>
  );
}
