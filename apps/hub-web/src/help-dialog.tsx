import { keyHelp } from "./keys.ts";
import { Dialog } from "./parts/dialog.tsx";

export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      {keyHelp.map(({ title, keys }) => (
        <section key={title} aria-label={title} class="lines">
          <h3>{title}</h3>
          <dl class="lines">
            {keys.map(([names, text]) => (
              <div key={text} class="key-row">
                <dt>
                  {names.map((name) => (
                    <kbd key={name}>{name}</kbd>
                  ))}
                </dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
