import { line } from "../format.ts";
import { useKey } from "../keys.ts";
import { CloseButton } from "./controls.tsx";

/** In the place of what is open: that it is being read, or why it cannot be shown. */
export function DetailMessage({ text, onClose }: { readonly text: string; readonly onClose: () => void }) {
  useKey("Escape", onClose);
  return (
    <section class="decision" aria-live="polite">
      <header class="decision-head">
        <CloseButton onClose={onClose} />
      </header>
      <p class="loading dim">{line(text, 500)}</p>
    </section>
  );
}
