export { type ContractPair, channelContract } from "./channel-contract.ts";
export { type ContractCase, ContractError, checkRejects, checkThat } from "./contract-error.ts";
export { createFaultyTransport, type Fault } from "./faulty-transport.ts";
export { createManualClock, type ManualClock } from "./manual-clock.ts";
export { createMemoryPair, type MemoryPairOptions, type MemoryWire } from "./memory-pair.ts";
export { createMemoryTransport } from "./memory-transport.ts";
export {
  checkEqual,
  type OpenedStore,
  runWithStore,
  type StoreContext,
} from "./store-contract.ts";
