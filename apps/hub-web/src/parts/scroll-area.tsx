import type { ComponentChildren, Ref } from "preact";

export interface ScrollAreaProps {
  readonly label: string;
  readonly className: string;
  readonly element?: Ref<HTMLElement>;
  readonly children: ComponentChildren;
}

/** A part of the page that scrolls by itself, by keys too. */
export function ScrollArea({ label, className, element, children }: ScrollAreaProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must take the focus, so that keys scroll it (WCAG 2.1.1)
    <section ref={element ?? null} class={className} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
