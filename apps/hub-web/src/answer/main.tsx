import "../no-eval.ts";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { DecisionPanel } from "../inbox/decision-panel.tsx";
import { Note } from "../parts/note.tsx";
import type { Answer, AnswerState } from "../state/inbox.ts";
import { openAnswerLink, type Said } from "./answer-link.ts";
import "../theme.ts";

const link = openAnswerLink();
// Another link in the same tab changes the fragment only.
addEventListener("hashchange", () => location.reload());

const retryMs = 2000;

function AnswerPage() {
  const [said, setSaid] = useState<Said>();
  const [answerState, setAnswerState] = useState<AnswerState>();
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    void link
      .view()
      .then((view) => setSaid(view ?? { problem: "The hub does not answer. Load this page again later." }));
  }, []);
  if (said === undefined) return null;
  if ("problem" in said) {
    return (
      <main class="answer-page">
        <Note tone="warn">{said.problem}</Note>
      </main>
    );
  }
  const answer = async (given: Answer) => {
    setAnswerState({ answer: given, state: "sending" });
    let next = await link.say(given);
    const wasLost = next === undefined;
    while (next === undefined) {
      setAway(true);
      await new Promise((resolve) => setTimeout(resolve, retryMs));
      next = await link.say(given);
    }
    setAway(false);
    // The first try may have counted: how the approval ended says it.
    if (wasLost && "problem" in next) return setSaid(next);
    if ("record" in next) {
      setAnswerState(undefined);
      return setSaid(next);
    }
    setAnswerState({ answer: given, state: "late", problem: next.problem });
    // Another answer may have been first: then the page shows whose.
    const now = await link.view();
    if (now !== undefined && "record" in now) setSaid(now);
  };
  return (
    <main class="answer-page">
      <DecisionPanel
        record={said.record}
        answerState={answerState}
        hello={undefined}
        link={isAway ? "away" : "ready"}
        onAnswer={(given) => void answer(given)}
      />
    </main>
  );
}

const root = document.getElementById("app");
if (root !== null) render(<AnswerPage />, root);
