import { ShellCapability } from "@harnesskit/protocol/openharness";
import { createShellEngine, type ShellEngine } from "@harnesskit/shell-engine";
import { chatAttachmentLimits } from "./attached-message.ts";
import { ChatHandler } from "./chat-handler.ts";
import type { ChatShellOptions } from "./chat-shell-options.ts";
import { checkChatShellEngineOptions } from "./option-names.ts";

/** A turn with tools may take so long, in milliseconds. */
const handlerTimeoutMs = 300_000;

/**
 * Makes an engine whose sessions are conversations of a chat harness. A turn that needs an approval asks the shell for it, and continues
 * with the answer. Throws as `createShellEngine` does.
 */
export const createChatShellEngine = <Context = unknown>(
  options: ChatShellOptions<Context>,
): ShellEngine<Context> => {
  checkChatShellEngineOptions(options);
  const { harness, handlers, sessionIdOf, attachments, render, describeApproval, ...rest } = options;
  if (attachments) chatAttachmentLimits(attachments);
  const { onResponse } = rest;
  const chat = new ChatHandler<Context>(options);
  return createShellEngine<Context>({
    ...rest,
    capabilities: { [ShellCapability.AttachmentUpload]: attachments !== undefined, ...rest.capabilities },
    limits: { handlerTimeoutMs, ...rest.limits },
    handlers: { ...handlers, intent: chat.handle },
    onResponse(response) {
      chat.noteEnds(response);
      return onResponse?.(response);
    },
  });
};
