import type { ComponentProps } from "preact";
import { useState } from "preact/hooks";
import { Icon, type IconName } from "./icons.tsx";

interface ButtonProps extends Omit<ComponentProps<"button">, "icon" | "class"> {
  /** `primary`, `refuse` or `quiet`; `compact`. */
  readonly look?: string;
  readonly icon?: IconName;
}

export function Button({ look = "", icon, children, ...rest }: ButtonProps) {
  return (
    <button type="button" class={`button ${look}`} {...rest}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends ButtonProps {
  readonly icon: IconName;
  readonly label: string;
}

/** A button that is a picture, with its words beside the pointer. */
export function IconButton({ label, look = "", ...rest }: IconButtonProps) {
  return <Button look={`quiet icon ${look}`} aria-label={label} title={label} {...rest} />;
}

export function CloseButton({ onClose }: { readonly onClose: () => void }) {
  return <IconButton icon="close" label="Close" title={undefined} onClick={onClose} />;
}

interface CopyButtonProps extends ButtonProps {
  readonly text: string;
}

const copiedMs = 2000;

/** Copies a text, and says for two seconds that it has. */
export function CopyButton({ text, children = "Copy", icon = "copy", ...rest }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), copiedMs);
  };
  return (
    <Button
      look="quiet compact"
      icon={isCopied ? "check" : icon}
      onClick={() => copy().catch(() => undefined)}
      {...rest}
    >
      {isCopied ? "Copied" : children}
    </Button>
  );
}

interface SelectProps<T> {
  readonly label: string;
  /** Whether the label is shown above it. */
  readonly isLabelled?: boolean;
  readonly className?: string;
  readonly value: T;
  readonly options: readonly (readonly [T, string])[];
  readonly onChange: (value: T) => void;
}

/** A choice of one value. */
export function Select<T extends string | number>(props: SelectProps<T>) {
  const { label, isLabelled = false, className = "", value, options, onChange } = props;
  const select = (
    <select
      class={`input ${className}`}
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => {
        const chosen = options[currentTarget.selectedIndex];
        if (chosen !== undefined) onChange(chosen[0]);
      }}
    >
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
  if (!isLabelled) return select;
  return (
    <div class="field">
      <span>{label}</span>
      {select}
    </div>
  );
}
