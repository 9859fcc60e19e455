import { line } from "../format.ts";
import { useKey } from "../keys.ts";
import { Icon } from "./icons.tsx";

/** In the place of what is open: that it is being read, or why it cannot be shown. */
export function DetailMessage({ text, onClose }: { readonly text: string; readonly onClose: () => void }) {
  useKey("Escape", onClose);
  return (
    <section class="decision" aria-live="polite">
      <header class="decision-head">
        <button type="button" class="button quiet icon" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <p class="loading dim">{line(text, 500)}</p>
    </section>
  );
}
