import type { ComponentChildren } from "preact";
import { CopyButton } from "./controls.tsx";
import { Icon, type IconName } from "./icons.tsx";

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

/** A command of `harness` to run in a terminal, with a button that copies it. */
export function CommandLine({ args }: { readonly args: string }) {
  const command = `harness ${args}`;
  return (
    <div class="command-line">
      <code>{command}</code>
      <CopyButton text={command} aria-label={`Copy the command ${command}`} />
    </div>
  );
}
