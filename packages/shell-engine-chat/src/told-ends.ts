import {
  type ActionDirective,
  HARNESSKIT_EXTENSION,
  type ShellResponse,
} from "@harnesskit/protocol/openharness";

/** Marks directives that tell how a turn has ended: it counts as told once they were sent. */
export const markEnd = (directives: readonly ActionDirective[], invocationId: string): ActionDirective[] =>
  directives.map((directive) => ({
    ...directive,
    extensions: { ...directive.extensions, [HARNESSKIT_EXTENSION]: { ended_turn: invocationId } },
  }));

/** Whether a mark would arrive: a directive that the shell cannot carry out goes out as another one. */
export const carriesMark = (directives: readonly ActionDirective[]): boolean =>
  directives.some(({ action_type }) => action_type === "render_message");

/** The turns whose ends a response tells. */
export const endsIn = ({ response }: ShellResponse): Set<string> => {
  const ended = new Set<string>();
  if (response.status !== "success") return ended;
  for (const { extensions } of response.action_directives ?? []) {
    const own = extensions?.[HARNESSKIT_EXTENSION] as { readonly ended_turn?: unknown } | undefined;
    if (typeof own?.ended_turn === "string") ended.add(own.ended_turn);
  }
  return ended;
};
