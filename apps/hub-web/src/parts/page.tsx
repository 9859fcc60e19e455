import type { ComponentChildren } from "preact";
import { Note } from "./note.tsx";

interface PageProps {
  readonly title: ComponentChildren;
  /** More of the head, below the title. */
  readonly head?: ComponentChildren;
  /** What of the page is read, in the plural, and why it could not be. */
  readonly what?: string;
  readonly problem?: string | undefined;
  readonly isLoading?: boolean;
  readonly children?: ComponentChildren;
}

/** A page of one subject: its head, why it cannot be read, or what it shows. */
export function Page({ title, head, what = "page", problem, isLoading, children }: PageProps) {
  return (
    <main class="page">
      <header class="page-head">
        <h1>{title}</h1>
        {head}
      </header>
      {problem !== undefined && (
        <Note tone="bad">
          The {what} cannot be read: {problem}
        </Note>
      )}
      {isLoading && problem === undefined && <p class="loading dim">Loading …</p>}
      {children}
    </main>
  );
}
