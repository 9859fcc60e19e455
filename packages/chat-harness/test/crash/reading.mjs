import { must } from "../../../../scripts/crash/violation.mjs";
import { kindOf, says, stagesOf } from "./story-graph.mjs";

/**
 * What a store has of a session, as it is.
 *
 * @param {object} store a `GraphStore`
 */
export const readSession = async (store, sessionId) => {
  const session = await store.sessions.load(sessionId);
  const { messages = [], effects = [], heard = 0 } = session?.state ?? {};
  return {
    sessionId,
    history: Array.from(messages, ({ role, content }) => ({ role, text: content })),
    effects: Array.from(effects),
    heard,
    records: await store.suspensions.list({ sessionId }),
  };
};

const patterns = {
  question: /^(go|first|second) of (.*)\?$/,
  done: /^did (.*) with (.*)$/,
};

/** Takes a value out of a list, once. */
const take = (list, value) => {
  const place = list.indexOf(value);
  if (place >= 0) list.splice(place, 1);
  return place >= 0;
};

/**
 * Takes a history apart: what was heard, in order; what waits, by text and stage; what was done, with the answer. A turn is there as a
 * whole or not at all: what was heard is followed by its reply or its question, and what a resumed turn says comes once for each
 * question, between turns. Throws a `Violation` for a history that no order of turns makes.
 */
export const takeApart = ({ sessionId, history }) => {
  const heard = [];
  const waiting = [];
  const done = [];
  for (let index = 0; index < history.length; index++) {
    const { role, text } = history[index];
    const place = `${sessionId} [${index}] ${JSON.stringify(text)}`;
    const question = patterns.question.exec(text);
    const end = patterns.done.exec(text);
    if (role === "user") {
      heard.push(text);
      const [stage] = stagesOf(text);
      const expected = kindOf(text) === "chat" ? says.reply(text) : says.question(text, stage);
      const next = history[++index]?.text;
      must(next === expected, `${place}: half a turn, followed by ${JSON.stringify(next)}`);
      if (stage !== undefined) waiting.push(`${text}: ${stage}`);
    } else if (question?.[1] === "second") {
      must(take(waiting, `${question[2]}: first`), `${place}: asked twice, or without the first question`);
      waiting.push(`${question[2]}: second`);
    } else if (end !== null) {
      const [, topic, answer] = end;
      must(
        take(waiting, `${topic}: ${stagesOf(topic).at(-1)}`),
        `${place}: done twice, or without being asked`,
      );
      done.push({ topic, answer });
    } else {
      must(false, `${place}: belongs to no turn`);
    }
  }
  return { heard, waiting, done };
};

/** The effects of signals: `invocationId`, `signalId` and `answer` of each. Throws a `Violation` for one that is there twice. */
export const readEffects = ({ sessionId, effects }) => {
  const seen = new Set();
  return effects.map((effect) => {
    const [invocationId, signalId, answer] = effect.split(" | ");
    const key = `${invocationId} | ${signalId}`;
    must(!seen.has(key), `${sessionId}: the signal ${key} has its effect twice`);
    seen.add(key);
    return { invocationId, signalId, answer };
  });
};
