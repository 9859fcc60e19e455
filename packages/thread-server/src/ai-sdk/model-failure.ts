import { ModelFailure } from "@harnesskit/wire/model";
import { TurnError } from "../errors.ts";

/** The words of a failure as sentences. */
export const toSentence = ({ message }: ModelFailure): string =>
  `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/[.\s]+$/, "")}.`;

/** What ends a turn: `model_…` for a failure of the model, anything else as it is. */
export const toTurnError = (error: unknown): unknown => {
  if (!ModelFailure.isInstance(error)) return error;
  const { code, cause } = error;
  const isAway = code === "timed_out" || code === "not_loaded";
  return new TurnError(`model_${isAway ? "unavailable" : code}`, toSentence(error), {
    cause: cause ?? error,
  });
};
