export {
  type ChannelContractOptions,
  type ChannelProfile,
  type ContractPair,
  channelContract,
} from "./channel-contract.ts";
export { type ContractCase, ContractError, checkThat } from "./contract-error.ts";
export { type ExchangeContractOptions, type ExchangeSample, exchangeContract } from "./exchange-contract.ts";
export {
  createFaultyTransport,
  type Fault,
  type FaultKind,
  type FaultyTransport,
} from "./faulty-transport.ts";
export { createManualClock, type ManualClock } from "./manual-clock.ts";
export { createMemoryPair, type MemoryPair, type MemoryPairOptions, type MemoryWire } from "./memory-pair.ts";
export { createMemoryPipes, type MemoryPipeOptions } from "./memory-pipe.ts";
export { createMemoryTransport, type MemoryTransport } from "./memory-transport.ts";
export {
  checkEqual,
  checkRejects,
  type OpenedStore,
  runWithStore,
  type StoreContext,
} from "./store-contract.ts";
