import { createChatHarness } from "@harnesskit/chat-harness";
import { createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
import { createMemoryStore, type GraphStore } from "@harnesskit/graph";
import {
  type ActionDirective,
  approvalSubject,
  type Continuation,
  responseExtensionOf,
  type ShellResponse,
  ShellResponseSchema,
} from "@harnesskit/protocol/openharness";
import { type ShellLogLine, shellHeaders } from "@harnesskit/shell-engine";
import { createHttpExchange, createHttpServer } from "@harnesskit/transport-http/node";
import { digest } from "@harnesskit/wire";
import { type ToolSet, tool } from "ai";
import { expect } from "vitest";
import * as z from "zod";
import { type ChatConversations, type ChatShellOptions, createChatShellEngine } from "../../src/index.ts";
import { type Answer, scriptedModel } from "./scripted-model.ts";

const token = "a-token-of-the-test";
const path = "/openharness";

/** Every ability that a shell may have here. */
export const able = { "openharness.ui.rich_cards": true, "openharness.ui.approval": true };

/** A tool that sends, under approval, and one that looks, without; both write down what they did. */
export const mailTools = () => {
  const done: string[] = [];
  const tools: ToolSet = {
    send: tool({
      inputSchema: z.object({ to: z.string() }),
      needsApproval: true,
      execute: async ({ to }) => {
        done.push(`sent to ${to}`);
        return `sent to ${to}`;
      },
    }),
    look: tool({
      inputSchema: z.object({ at: z.string().default("inbox") }),
      execute: async ({ at }) => {
        done.push(`looked at ${at}`);
        return `${at}: 2 mails`;
      },
    }),
  };
  return { done, tools };
};

export const sendTo = (id: string, to: string) => ({ id, name: "send", input: { to } });
export const look = (id: string) => ({ id, name: "look" });

/** A question, and what its answer is sent with. */
export interface Asked {
  readonly directive: ActionDirective;
  readonly continuation: Continuation;
}

type EngineOptions = Omit<ChatShellOptions, "harness">;

/** An engine over conversations, served over HTTP; closed at the end of the scope, the conversations are not. */
export const serve = async (harness: ChatConversations, options: EngineOptions = {}) => {
  const lines: ShellLogLine[] = [];
  const errors: unknown[] = [];
  const engine = createChatShellEngine({
    log: (line) => lines.push(line),
    onError: (error) => errors.push(error),
    ...options,
    harness,
  });
  const server = createHttpServer({ routes: { [path]: engine }, token, contextHeaders: shellHeaders });
  await server.listen();
  const exchange = createHttpExchange({ url: `${server.url}${path}`, credentials: { bearer: token } });
  const post = async (context: object, fields: object = {}): Promise<ShellResponse> => {
    const message = {
      protocol_version: "1.0.0",
      capabilities: able,
      ...fields,
      request: { context: { session_id: "s1", ...context } },
    };
    const response = await exchange.handle(message);
    expect(ShellResponseSchema.parse(response)).toEqual(response);
    return response as ShellResponse;
  };
  return {
    engine,
    server,
    lines,
    errors,
    post,
    say: (user_intent: string, fields: object = {}) => post({ user_intent }, fields),
    /** Answers a question as a shell does. */
    async answer({ directive, continuation }: Asked, decision: "approved" | "refused", reason?: string) {
      const approval = { decision, digest: await digest(approvalSubject(directive)), reason };
      return post({ continuation, extensions: { "dev.harnesskit": { approval } } });
    },
    async [Symbol.asyncDispose]() {
      exchange.close();
      await server.close();
      await engine.close();
    },
  };
};

export interface StartOptions extends EngineOptions {
  readonly store?: GraphStore;
  readonly tools?: ToolSet;
  readonly turnTimeoutMs?: number;
}

/** An engine over a conversation with a scripted model. */
export const start = async (answers: readonly Answer[], options: StartOptions = {}) => {
  const { store = createMemoryStore(), tools: given, turnTimeoutMs, ...rest } = options;
  const { done, tools } = mailTools();
  const script = scriptedModel(...answers);
  const harness = createChatHarness({
    graph: createChatGraph({ model: script.model, tools: given ?? tools, maxRetries: 0 }),
    store,
    ...(turnTimeoutMs !== undefined && { turnTimeoutMs }),
  });
  const served = await serve(harness, rest);
  return {
    ...served,
    harness,
    store,
    script,
    done,
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      await harness.close();
    },
  };
};

export const directivesOf = ({ response }: ShellResponse): readonly ActionDirective[] =>
  response.action_directives ?? [];

/** What a response shows, in short. */
export const shown = (response: ShellResponse): string[] =>
  directivesOf(response).map(({ action_type, payload = {} }) => {
    if (action_type === "render_message") return String(payload.message);
    if (action_type === "render_ui") {
      // Every result that did not fail can be left closed.
      const {
        collapsed,
        call: _,
        ...data
      } = payload.data as { readonly collapsed?: true; readonly call?: object };
      return `[${payload.title}${collapsed === true ? " ▸" : ""}: ${JSON.stringify(data)}]`;
    }
    return `${action_type}: ${payload.title}`;
  });

export const codeOf = ({ response }: ShellResponse): string => response.error?.code ?? response.status;

/** The question of a response, as a shell keeps it. */
export const askedIn = (response: ShellResponse): Asked => {
  const directive = directivesOf(response).find(({ action_type }) => action_type === "request_approval");
  const continuation = directive?.payload?.continuation as Continuation | undefined;
  if (!directive || !continuation) return expect.fail(`nothing was asked: ${JSON.stringify(response)}`);
  expect(responseExtensionOf(response.response.extensions)?.continuation).toEqual(continuation);
  return { directive, continuation };
};
