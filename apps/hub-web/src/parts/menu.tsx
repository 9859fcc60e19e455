import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface MenuProps {
  readonly label: ComponentChildren;
  readonly className?: string;
  readonly children: ComponentChildren;
}

/** A button that shows more beside it; a click elsewhere or Escape hides it again. */
export function Menu({ label, className = "", children }: MenuProps) {
  const id = useId();
  return (
    <>
      <button type="button" class={`button compact ${className}`} popovertarget={id}>
        {label}
      </button>
      <div id={id} popover="auto" class="menu">
        {children}
      </div>
    </>
  );
}
