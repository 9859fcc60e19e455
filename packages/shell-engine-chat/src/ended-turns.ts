import {
  type ActionDirective,
  HARNESSKIT_EXTENSION,
  type ShellResponse,
} from "@harnesskit/protocol/openharness";

/** Resumed turns whose ends a request is about to report, or has reported and not yet noted: by invocation, how many do. */
export class EndReports {
  readonly #counts = new Map<string, number>();

  has(invocationId: string): boolean {
    return this.#counts.has(invocationId);
  }

  begin(invocationId: string): void {
    this.#counts.set(invocationId, (this.#counts.get(invocationId) ?? 0) + 1);
  }

  end(invocationId: string): void {
    const others = (this.#counts.get(invocationId) ?? 1) - 1;
    if (others > 0) this.#counts.set(invocationId, others);
    else this.#counts.delete(invocationId);
  }
}

/** Marks directives that report how a turn has ended: it counts as reported once they were sent. */
export const markEnd = (directives: readonly ActionDirective[], invocationId: string): ActionDirective[] =>
  directives.map((directive) => ({
    ...directive,
    extensions: { ...directive.extensions, [HARNESSKIT_EXTENSION]: { ended_turn: invocationId } },
  }));

/** Whether a mark would arrive: a directive that the shell cannot carry out is replaced by another one. */
export const carriesMark = (directives: readonly ActionDirective[]): boolean =>
  directives.some(({ action_type }) => action_type === "render_message");

/** The turns whose ends a response reports. */
export const endsIn = ({ response }: ShellResponse): Set<string> => {
  const ended = new Set<string>();
  if (response.status !== "success") return ended;
  for (const { extensions } of response.action_directives ?? []) {
    const own = extensions?.[HARNESSKIT_EXTENSION] as { readonly ended_turn?: unknown } | undefined;
    if (typeof own?.ended_turn === "string") ended.add(own.ended_turn);
  }
  return ended;
};
