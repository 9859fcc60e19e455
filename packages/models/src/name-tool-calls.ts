/** The name of a call to which the model gave none: no tool has it, so the call fails, and the failure tells the model which tools there are. */
const unnamedTool = "unnamed_tool";

interface CallDelta {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null;
}

interface Chunk {
  readonly choices?: readonly {
    delta?: { tool_calls?: CallDelta[] | null } | null;
    readonly finish_reason?: string | null;
  }[];
}

/** Holds calls back until they have their name; gives those without one theirs at the end of the answer. */
class CallNames {
  readonly #named = new Set<string>();
  readonly #nameless = new Map<string, CallDelta>();

  read(deltas: readonly CallDelta[]): CallDelta[] {
    return deltas.flatMap((delta) => {
      const key = String(delta.index ?? delta.id ?? 0);
      if (this.#named.has(key)) return [delta];
      const held = this.#nameless.get(key);
      const call = {
        ...delta,
        id: delta.id ?? held?.id ?? null,
        function: {
          ...delta.function,
          arguments: `${held?.function?.arguments ?? ""}${delta.function?.arguments ?? ""}`,
        },
      };
      if (!delta.function?.name?.trim()) {
        this.#nameless.set(key, call);
        return [];
      }
      this.#nameless.delete(key);
      this.#named.add(key);
      return [call];
    });
  }

  end(): CallDelta[] {
    const calls = [...this.#nameless.values()];
    this.#nameless.clear();
    return calls.map((call) => ({ ...call, function: { ...call.function, name: unnamedTool } }));
  }
}

/** The line of an event with its calls named; other lines are passed on as they are. */
const nameLine = (line: string, names: CallNames): string => {
  const isOfCalls = line.includes('"tool_calls"') || /"finish_reason":\s*"/.test(line);
  if (!line.startsWith("data:") || !isOfCalls) return line;
  let chunk: Chunk;
  try {
    chunk = JSON.parse(line.slice("data:".length)) as Chunk;
  } catch {
    return line;
  }
  const [choice] = Array.isArray(chunk?.choices) ? chunk.choices : [];
  if (!choice) return line;
  const given = Array.isArray(choice.delta?.tool_calls) ? choice.delta.tool_calls : [];
  const calls = [...names.read(given), ...(choice.finish_reason ? names.end() : [])];
  if (calls.length === given.length && calls.every((call, at) => call === given[at])) return line;
  choice.delta = { ...choice.delta, tool_calls: calls };
  return `data: ${JSON.stringify(chunk)}`;
};

/**
 * A streamed answer of OpenAI's chat completions in which each tool call has a name. `@ai-sdk/openai-compatible` ends the whole answer with an
 * error at a call whose name is empty or missing, as small models make them. Other answers are returned as they are.
 */
export const nameToolCalls = (response: Response): Response => {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!response.ok || !isStream || response.body === null) return response;
  const decoder = new TextDecoder();
  const names = new CallNames();
  let rest = "";
  const named = new TransformStream<Uint8Array, string>({
    transform(bytes, controller) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) controller.enqueue(`${nameLine(line, names)}\n`);
    },
    flush: (controller) => controller.enqueue(nameLine(rest + decoder.decode(), names)),
  });
  const body = response.body.pipeThrough(named).pipeThrough(new TextEncoderStream());
  return new Response(body, response);
};
