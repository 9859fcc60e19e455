import { defineOptions } from "../define-options.ts";
import type { DispatcherOptions } from "./dispatcher-options.ts";
import type { PeerOptions } from "./peer-options.ts";

export const checkDispatcherOptions = defineOptions<DispatcherOptions<unknown>>("createDispatcher", {
  methods: false,
  notifications: false,
  guard: false,
  limits: false,
  errors: false,
  unknownId: false,
  anyParams: false,
  onRefused: false,
  onError: false,
  clock: false,
});

export const checkPeerOptions = defineOptions<PeerOptions>("createPeer", {
  requestTimeoutMs: false,
  maxConcurrentCalls: false,
  maxQueuedCalls: false,
  answersOnly: false,
  clock: false,
});
