import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface ScrollAreaProps {
  readonly label: string;
  readonly className: string;
  readonly element?: RefObject<HTMLElement | null> | undefined;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly children: ComponentChildren;
}

/** A part of the page that scrolls by itself, by keys too. */
export function ScrollArea({ label, className, element, onKeyDown, children }: ScrollAreaProps) {
  const own = useRef<HTMLElement>(null);
  const area = element ?? own;
  useLayoutEffect(() => {
    // Not every browser lets keys scroll what cannot take the focus (WCAG 2.1.1).
    if (area.current !== null) area.current.tabIndex = 0;
  }, [area]);
  return (
    <section ref={area} class={className} aria-label={label} onKeyDown={onKeyDown}>
      {children}
    </section>
  );
}
