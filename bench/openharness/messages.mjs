export const token = "0123456789abcdef0123456789abcdef";

/** A request as a shell sends it, about 700 bytes; each has an id of its own. */
export const requestOf = (number) => ({
  protocol_version: "1.0.0",
  request_id: `req_${String(number).padStart(12, "0")}`,
  correlation_id: "corr_8f3a",
  capabilities: { "openharness.actions.parallel": true, "openharness.ui.rich_cards": true },
  request: {
    context: {
      session_id: "sess_8848",
      conversation_id: "conv_tab_2",
      user_intent: "Continue the onboarding, and show me what is left of it.",
      task_hint: { business_key: "deal_42" },
      shell: { shell_kind: "im_bot", shell_version: "2.1.0", locale: "en-GB", timezone: "Europe/London" },
      attachments: [{ ref_id: "att_01", mime_type: "image/png", filename: "id.png", size_bytes: 48_213 }],
      environment_state: {
        privacy_tier: "restricted",
        os: "macOS",
        active_window: "Excel",
        screen_hash: "a1b2c3d4",
      },
    },
  },
});

/** What every contender answers with. */
export const directives = [
  {
    action_type: "render_message",
    risk_tier: "safe",
    payload: { message: "Two steps are left.", text: "Two steps are left." },
  },
  {
    action_type: "render_ui",
    risk_tier: "safe",
    payload: {
      component: "table",
      title: "Steps",
      data: {
        rows: [
          ["address", "open"],
          ["signature", "open"],
        ],
      },
    },
  },
];

/** The response of those that have no engine: the same fields as the engine's. */
export const responseTo = ({ request_id, correlation_id }) => ({
  protocol_version: "1.0.0",
  request_id,
  correlation_id,
  supported_protocol_versions: ["1.0.0"],
  supported_capabilities: {
    "openharness.actions.parallel": true,
    "openharness.ui.rich_cards": true,
    "openharness.ui.approval": true,
  },
  capability_denials: [],
  response: { status: "success", action_directives: directives, engine_latency_ms: 0 },
});
