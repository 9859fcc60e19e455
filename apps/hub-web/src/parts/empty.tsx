import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icons.tsx";
import { useCopy } from "./use-copy.ts";

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** What is shown where there is nothing yet: why, and what to do next. */
export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} size={44} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/**
 * A command of `harness` to run in a terminal, with a button that copies it. It names the package: where that is not installed,
 * `npx harness` would run the package of another author.
 */
export function CommandLine({ args }: { readonly args: string }) {
  const command = `npx @harnesskit/cli ${args}`;
  const [isCopied, copy] = useCopy();
  return (
    <div class="command-line">
      <code>{command}</code>
      <button
        type="button"
        class="button quiet compact"
        onClick={() => copy(command)}
        aria-label={`Copy the command ${command}`}
      >
        <Icon name={isCopied ? "check" : "copy"} size={16} />
        {isCopied ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
