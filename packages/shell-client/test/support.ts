import {
  type ActionDirective,
  type ShellRequest,
  ShellRequestSchema,
} from "@harnesskit/protocol/openharness";
import { HarnessError } from "@harnesskit/wire";
import { createManualClock } from "@harnesskit/wire/testing";
import { expect } from "vitest";
import type { EngineCall } from "../src/engine.ts";
import {
  createShellClient,
  type DirectiveResult,
  ShellClientError,
  type ShellClientOptions,
  type ShellOutcome,
} from "../src/index.ts";
import type { ShellDiagnostic } from "../src/shell-outcome.ts";

export type Sent = ShellRequest & { readonly request_id: string };

/** A response of version 1.0.0 to a request, with these directives. */
export const respond = (
  request: { readonly request_id?: string | undefined },
  directives: readonly unknown[] = [],
  more: object = {},
  payload: object = {},
): object => ({
  protocol_version: "1.0.0",
  ...(request.request_id !== undefined && { request_id: request.request_id }),
  supported_capabilities: { "openharness.actions.parallel": true },
  ...more,
  response: { status: "success", action_directives: directives, ...payload },
});

/** A response that says what went wrong. */
export const fail = (request: Sent, error: object, directives?: readonly unknown[]): object =>
  respond(request, directives, {}, { status: "error", error });

export const say = (message: string, more: Partial<ActionDirective> = {}): ActionDirective => ({
  action_type: "render_message",
  ...more,
  payload: { message },
});

export const question = (message = "Sure?", token = "t1", more: object = {}): ActionDirective => ({
  action_type: "request_approval",
  ...more,
  payload: { message, continuation: { run_id: "run_1", continuation_token: token } },
});

type Scripted = (request: Sent, call: EngineCall, attempt: number) => unknown;

/** A shell whose engine is a function, with everything that it told. Each message is a request of the protocol, as JSON carries it. */
export const scripted = (engine: Scripted, options: Partial<ShellClientOptions> = {}) => {
  const sent: Sent[] = [];
  const calls: EngineCall[] = [];
  const shown: unknown[] = [];
  const diagnostics: ShellDiagnostic[] = [];
  const told: DirectiveResult[] = [];
  const shell = createShellClient({
    engine: {
      handle: async (message, call) => {
        const carried: unknown = JSON.parse(JSON.stringify(message));
        expect(ShellRequestSchema.parse(carried)).toEqual(carried);
        sent.push(carried as Sent);
        calls.push(call);
        return engine(carried as Sent, call, sent.length);
      },
    },
    executors: { render_message: ({ payload }) => void shown.push(payload?.message) },
    retry: { initialDelayMs: 0 },
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    onResult: (result) => told.push(result),
    ...options,
  });
  return { shell, sent, calls, shown, diagnostics, told };
};

/** Carries out what one response brings. */
export const carry = async (directives: readonly unknown[], options: Partial<ShellClientOptions> = {}) => {
  const parts = scripted((request) => respond(request, directives), options);
  return { ...parts, outcome: await parts.shell.send({ intent: "go" }) };
};

export const outcomesOf = ({ results }: ShellOutcome): string[] => results.map(({ outcome }) => outcome);
export const codesOf = ({ results }: ShellOutcome) => results.map(({ error }) => error?.code);
export const diagnosed = (diagnostics: readonly ShellDiagnostic[]) => diagnostics.map(({ code }) => code);

/** The error that a promise rejects with, which has to be one of ours. */
export const rejection = async (promise: Promise<unknown>): Promise<HarnessError> => {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(HarnessError.isInstance(error)).toBe(true);
  return error as HarnessError;
};

/** The failure in an outcome, whose code its error has too. */
export const failureOf = ({ status, failure, error }: ShellOutcome): ShellClientError => {
  expect([status, error?.code]).toEqual(["error", failure?.code]);
  expect(failure).toBeInstanceOf(ShellClientError);
  return failure as ShellClientError;
};

export const never = (): Promise<never> => new Promise(() => {});

export const manualClock = createManualClock;
