import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { ItemData } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import type { PreparedCall } from "@harnesskit/wire/tool";
import type { Judged } from "./gated-step.ts";
import type { JudgedCall } from "./turn-runner.ts";

/** A call that can be judged and run. */
export interface Prepared {
  readonly call: JudgedCall;
  readonly run: NonNullable<PreparedCall["run"]>;
}

/** What was asked for, without its input. */
export type Asked = Pick<Shown, "tool" | "callId" | "step" | "index" | "providerMetadata">;

/** What a call's item says from its start to its end. */
export type Shown = Omit<ItemData<"tool_exec">, "status">;

export const shownOf = ({ tool, callId, step, index, providerMetadata }: Asked, input: JsonObject): Shown =>
  defined({ tool, input, callId, step, index, providerMetadata });

export const judgedOf = (asked: Asked, { subject, said }: Judged<Prepared, JsonObject>): Shown => ({
  ...shownOf(asked, subject.call.input),
  ...said,
});
