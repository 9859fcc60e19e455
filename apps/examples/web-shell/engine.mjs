import { createShellEngine, ShellEngineError } from "@harnesskit/shell-engine";

const message = (text) => ({ action_type: "render_message", payload: { message: text } });
const card = (component, title, data, fallback) => ({
  action_type: "render_ui",
  payload: { component, title, data, fallback_message: fallback },
});

const help = [
  message(
    "Say one of these words:\n" +
      "table – a table\nchart – figures\nform – a form, whose values come back\n" +
      "approve – a question that waits for your answer\ntext – a card of text\n" +
      "map – a card that this page cannot show\nfail – an error that may be tried again\n" +
      "stream – an answer that is shown as it is written\n" +
      "Anything else is repeated.",
  ),
];

const rooms = [
  { room: "Kitchen", temperature: 21.5, humidity: 48, window: "closed" },
  { room: "Bedroom", temperature: 18.2, humidity: 52, window: "open" },
  { room: "Study", temperature: 20.9, humidity: 44, window: "closed" },
];

const charts = [
  card("chart", "Energy", {
    kind: "bar",
    unit: "kWh",
    labels: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    series: [
      { name: "used", values: [8.1, 7.4, 9.2, 6.8, 7.9, 11.3, 10.6] },
      { name: "from the roof", values: [3.2, 5.9, 4.4, 6.1, 2.7, 6.6, 5.8] },
    ],
  }),
  card("chart", "Temperature of today", {
    kind: "line",
    unit: "°C",
    points: [3, 2, 1, 4, 9, 12, 11, 7].map((value, index) => ({ label: `${index * 3}:00`, value })),
  }),
];

const form = card(
  "form",
  "Book a room",
  {
    fields: [
      { name: "name", label: "Your name", required: true },
      { name: "people", label: "How many people", type: "number", min: 1, max: 12, required: true },
      { name: "day", label: "Day", type: "date" },
      { name: "room", label: "Room", type: "choice", options: ["Kitchen", "Study"], required: true },
      { name: "notes", label: "Notes", type: "multiline", help: "What should be there?" },
      { name: "coffee", label: "With coffee", type: "checkbox" },
    ],
    submit: { label: "Book", task_hint: { plugin_id: "booking" } },
  },
  "To book a room, say which one, when, and for how many people.",
);

const question = {
  directives: [
    {
      action_type: "request_approval",
      risk_tier: "dangerous",
      payload: {
        title: "Delete a file?",
        message: "The assistant wants to delete the notes of last year.",
        subject: { tool: "delete_file", input: { path: "notes/2025.md", recursive: false } },
      },
    },
  ],
  continueWith: { data: { path: "notes/2025.md" } },
};

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Says an answer word by word, and reports how its card comes along. */
const streamed =
  (pauseMs) =>
  async ({ stream, signal }) => {
    const text =
      "Three rooms were measured. It is warmest in the kitchen, and a window is open in the bedroom.";
    for (const [index, word] of text.split(/(?<= )/).entries()) {
      if (signal.aborted) break;
      stream.text(word);
      if (index % 5 === 0) {
        const fraction = Math.min(1, index / 20);
        stream.progress("rooms", { actionType: "render_ui", message: "Rooms", fraction });
      }
      await pause(pauseMs);
    }
    stream.progress("rooms", { actionType: "render_ui", message: "Rooms", state: "done" });
    return [message(text), card("table", "Rooms", { rows: rooms })];
  };

/** The engine of the example: it shows each directive once. `more` are further replies, by their word; `pauseMs` is how long
 * a streamed word takes. What is deleted was never there. */
export const createExampleEngine = ({ more = {}, pauseMs = 40 } = {}) => {
  // A failure that is over when it is tried again.
  const failed = new Set();
  const replies = {
    help: () => help,
    table: () => [card("table", "Rooms", { rows: rooms }, "Kitchen 21.5, bedroom 18.2, study 20.9 degrees")],
    chart: () => charts,
    form: () => [form],
    approve: () => question,
    text: () => [card("text", "Note", { text: "A card with nothing but text.\nIt has two lines." })],
    stream: streamed(pauseMs),
    map: () => [card("map", "Where", { lat: 48.2, lon: 16.4 }, "It is in Vienna.")],
    ...more,
    fail: ({ requestId, conversation }) => {
      const key = `${conversation.key} ${requestId}`;
      if (failed.delete(key)) return [message("This time it went well.")];
      failed.add(key);
      throw new ShellEngineError("warming_up", "The engine has to warm up first.", { retryable: true });
    },
  };
  const intent = (call) => {
    if (call.approval) {
      const { decision, reason } = call.approval;
      const why = reason === undefined ? "" : ` You said: ${reason}`;
      return [
        message(
          decision === "approved" ? `Deleted ${call.run.data.path}.${why}` : `Nothing was deleted.${why}`,
        ),
      ];
    }
    // Without an intent a shell asks what it has missed.
    if (call.intent === undefined) return [message("Nothing waits.")];
    const word = call.intent.trim().toLowerCase();
    if (Object.hasOwn(replies, word)) return replies[word](call);
    // References alone: an engine that reads them decides which it may read, and says what it leaves out.
    const names = call.attachments.map(({ filename, ref_id, uri }) => filename ?? ref_id ?? uri).join(", ");
    return [message(`You said: ${call.intent}${names === "" ? "" : ` (with ${names})`}`)];
  };
  const booking = ({ task }) => [
    message("Booked."),
    card("table", "Your booking", {
      columns: ["what", "value"],
      rows: Object.entries(task.form_values ?? {}).map(([what, value]) => ({ what, value })),
    }),
  ];
  return createShellEngine({
    handlers: { intent, plugins: { booking } },
    capabilities: { "openharness.attachments.upload": true, "openharness.streaming": true },
  });
};
