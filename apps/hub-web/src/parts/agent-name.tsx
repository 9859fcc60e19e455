import { line } from "../format.ts";

const hues = 6;

const hueOf = (name: string): number => {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9973;
  return sum % hues;
};

/** An agent by its name, with a colour of its own beside it. */
export function AgentName({ name }: { readonly name: string }) {
  return (
    <span class="agent">
      <i class={`hue-${hueOf(name)}`} aria-hidden="true" />
      <span class="clip">{line(name, 100)}</span>
    </span>
  );
}
