import { type StateRecord, type StateStore, StateStoreError } from "../../src/index.ts";

/** Keeps the state in this process. */
export const createMemoryStateStore = (): StateStore => {
  let records: string[] = [];
  let size = 0;
  let isClosed = false;
  const assertOpen = (): void => {
    if (isClosed) throw new StateStoreError("state_not_kept", "the store of the state is closed");
  };
  return {
    get size() {
      return size;
    },
    *load() {
      for (const text of [...records]) yield JSON.parse(text) as StateRecord;
    },
    append(record) {
      assertOpen();
      const text = JSON.stringify(record);
      records.push(text);
      size += text.length;
    },
    replace(given) {
      assertOpen();
      const texts = Array.from(given, (record) => JSON.stringify(record));
      records = texts;
      size = texts.reduce((sum, text) => sum + text.length, 0);
    },
    close() {
      isClosed = true;
    },
  };
};
