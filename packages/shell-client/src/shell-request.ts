import type {
  AttachmentRef,
  Continuation,
  EnvironmentState,
  Extensions,
  TaskHint,
} from "@harnesskit/protocol/openharness";
import { ShellClientError } from "./shell-client-error.ts";

/** One thing that a shell asks of its engine. */
export interface ShellAsk {
  /** What the user wants (`user_intent`). @default none */
  readonly intent?: string | undefined;
  /** Where it should go: `sop_id`, `plugin_id`, `business_key`, or keys of the deployment. @default none */
  readonly taskHint?: TaskHint | undefined;
  /** References; one that holds data is refused (section 9.1). @default none */
  readonly attachments?: readonly AttachmentRef[] | undefined;
  /** What the shell knows of its surroundings; what leaves is decided by the client's `environment`. @default none */
  readonly environment?: EnvironmentState | undefined;
  /** `context.extensions`. The key `dev.harnesskit` is the client's own. @default none */
  readonly extensions?: Extensions | undefined;
  /** Another continuation than the session's; false for none. @default the session's */
  readonly continuation?: Continuation | false | undefined;
  /** The same for everything that comes of this call; 1 to 512 characters. @default a new one */
  readonly correlationId?: string | undefined;
  /** Gives up: what runs is aborted, what has not begun is `not_reached`. @default none */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A reference as a user writes it, for `ask.attachments`: an address (`https://…`, `file:///…`, `app:…`) is the `uri`; anything else is
 * the `ref_id`, which the engine knows, for `harness engine` a path in its workspace. Nothing is opened here. Throws a
 * `ShellClientError` `invalid_request`, reason `no_reference`, for one that is blank.
 */
export const toAttachmentRef = (reference: string): AttachmentRef => {
  const text = reference.trim();
  if (text === "") {
    throw new ShellClientError("invalid_request", "an attachment must have a ref_id or a uri", {
      reason: "no_reference",
    });
  }
  // A letter before a colon is a drive.
  if (/^[a-z][a-z0-9+.-]+:/i.test(text)) return { uri: text };
  const filename = text.slice(Math.max(text.lastIndexOf("/"), text.lastIndexOf("\\")) + 1);
  return filename === "" ? { ref_id: text } : { ref_id: text, filename };
};
