import type { ConformanceLimits } from "../limits.ts";
import type { Link } from "../link/link.ts";
import type { NamedMatchers } from "../match/match.ts";
import type { Scope } from "../match/scope.ts";
import type { Post, Step, TransportName, Verb } from "../scenario/step-schema.ts";
import type { ClientTarget } from "../target/client-target.ts";
import type { Outcome } from "../target/driver.ts";
import type { ServerTarget } from "../target/server-target.ts";

/** What the steps of one scenario share. */
export interface StepContext {
  readonly scope: Scope;
  readonly named: NamedMatchers;
  readonly transport: TransportName;
  readonly limits: ConformanceLimits;
  readonly folder: string;
  /** Whether the suite starts the target: then its folder is known, and it can be started again. */
  readonly isStarted: boolean;
  /** Whether the suite has a credential of the target. */
  readonly hasCredential: boolean;
  readonly links: Map<string, Link>;
  /** Connections that have no name any more: of before a restart, or replaced by `open`. */
  readonly endedLinks: Link[];
  /** Present where the target is a server. */
  readonly server?: ServerTarget | undefined;
  /** Present where the target is a client. */
  readonly client?: ClientTarget | undefined;
  /** What clients were asked to do, by the name of the step. */
  readonly outcomes: Map<string, Promise<Outcome>>;
  /** Whether the target's driver has answered. */
  driverSpoke: boolean;
  /** Whether the target has answered, in any scenario of the run. An echo is no answer. */
  readonly voice: { hasAnswered: boolean };
  /** Whether the target had its time to start, and something that was waited for did not come. */
  hasWaited: boolean;
  /** The request that carried a message over HTTP. */
  readonly facts: Map<unknown, unknown>;
  /** A new id for a request. */
  nextId(): string;
  random(): number;
  /** Whether anything of the target has come. */
  hasSpoken(): boolean;
  /** How long a step waits on a connection, unless it says otherwise: longer while the target starts. */
  waitOf(link: string): number;
  /** The line of the transcript that says what was sent last, or what the target was to do. */
  readonly sent: string | undefined;
  /** Adds a line to the transcript. */
  note(line: string): void;
}

/** A step whose references are replaced. */
export interface ReadyStep {
  readonly verb: Verb;
  readonly step: Readonly<Record<string, unknown>>;
  readonly within: number;
  /** See `Wait`. */
  readonly afterFirst: number | undefined;
  readonly link: string;
  readonly as: string | undefined;
}

/** Does one step and returns what it got. Rejects with `Unmet` where that did not come. */
export type DoStep = (ready: ReadyStep, context: StepContext) => Promise<unknown>;

export type { Post };

interface Credentialed {
  readonly credential?: string;
  readonly post?: Post;
  readonly needsCredential?: true;
}

/** Whether a step is for this target: for its transport, and with another credential only where it has one. */
export const isMeant = (step: Step, { transport, hasCredential }: StepContext): boolean => {
  const { credential, post, needsCredential } = step as Credentialed;
  const isValid = (credential ?? post?.credential ?? "valid") === "valid" && needsCredential !== true;
  return (step.only ?? [transport]).includes(transport) && (hasCredential || isValid);
};
