import type { ComponentChildren, RefObject } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { useKey } from "../keys.ts";
import { CloseButton } from "./controls.tsx";
import { Line } from "./safe-text.tsx";
import { ScrollArea } from "./scroll-area.tsx";

interface DetailProps {
  readonly className: string;
  readonly title: ComponentChildren;
  readonly beforeTitle?: ComponentChildren;
  readonly afterTitle?: ComponentChildren;
  /** More of the head. */
  readonly head?: ComponentChildren;
  /** What the part that scrolls is called. */
  readonly label: string;
  readonly body?: RefObject<HTMLElement | null>;
  readonly footer?: ComponentChildren;
  readonly onClose?: (() => void) | undefined;
  readonly children: ComponentChildren;
}

/** What is open beside a list: its head stays, its body scrolls, and Escape closes it. It takes the focus when it appears. */
export function Detail(props: DetailProps) {
  const { className, title, beforeTitle, afterTitle, head, label, body, footer, onClose } = props;
  const titleId = useId();
  const panel = useRef<HTMLElement>(null);
  useKey("Escape", () => onClose?.(), onClose !== undefined);
  // The panel and none of its buttons: a key that was meant for something else answers nothing.
  useLayoutEffect(() => panel.current?.focus({ preventScroll: true }), []);
  return (
    <section ref={panel} class={`decision ${className}`} tabIndex={-1} aria-labelledby={titleId}>
      <header class="decision-head">
        {onClose !== undefined && <CloseButton onClose={onClose} />}
        <div class="decision-title">
          {beforeTitle}
          <h1 id={titleId}>{title}</h1>
          {afterTitle}
        </div>
        {head}
      </header>
      <ScrollArea element={body} className="decision-body" label={label}>
        {props.children}
      </ScrollArea>
      {footer !== undefined && <footer class="decision-foot">{footer}</footer>}
    </section>
  );
}

/** In the place of what is open: that it is being read, or why it cannot be shown. */
export function DetailMessage({ text, onClose }: { readonly text: string; readonly onClose: () => void }) {
  return (
    <Detail className="" title={<Line text={text} max={500} />} label="Nothing else" onClose={onClose}>
      {null}
    </Detail>
  );
}
