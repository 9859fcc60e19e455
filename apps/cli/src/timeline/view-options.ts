import type { OpenProse } from "../terminal/prose.ts";
import type { Spinner } from "../terminal/spinner.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** How a {@link View} shows what an agent does. */
export interface ViewOptions {
  readonly terminal: Terminal;
  /** Where what the model says goes, but for its reasoning. @default `terminal` */
  readonly says?: Terminal | undefined;
  /** Show what the user said. @default true */
  readonly showPrompt?: boolean | undefined;
  /** Say of a turn that ended how long it took and that all is done; false: only what did not run. @default true */
  readonly showDone?: boolean | undefined;
  /** How a changed policy is used, to allow what was blocked. @default as `harness run` does */
  readonly policyUse?: string | undefined;
  /** Shows that a tool or the model works. @default nothing does */
  readonly spinner?: Spinner | undefined;
  /** Shows what the model says. @default as it is */
  readonly openProse?: OpenProse | undefined;
  /** Called before anything is written: what was shown for a while is taken back. @default nothing is */
  readonly beforeWrite?: (() => void) | undefined;
}
