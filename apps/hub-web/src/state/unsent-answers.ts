import type { ApprovalRecord } from "@harnesskit/protocol/hub";
import type { Answer } from "./inbox.ts";

/** What was answered, and how. */
export type UnsentAnswer = Pick<ApprovalRecord, "id" | "digest"> & { readonly answer: Answer };

const storeName = "answers";

const open = (): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open("harness-hub-unsent", 1);
    request.onupgradeneeded = () => request.result.createObjectStore(storeName, { keyPath: "id" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/**
 * Answers that no hub has acknowledged, on the disk of the browser: it may be killed while the hub is away. (What is in `localStorage` reaches
 * the disk seconds later.) A browser that keeps nothing, such as one whose disk is full, sends its answers all the same.
 */
export class UnsentAnswers {
  #opened: Promise<IDBDatabase> | undefined;

  /** Settles when the answer is on the disk. */
  async keep(unsent: UnsentAnswer): Promise<void> {
    await this.#run("readwrite", (store) => store.put(unsent));
  }

  async forget(id: string): Promise<void> {
    await this.#run("readwrite", (store) => store.delete(id));
  }

  async all(): Promise<readonly UnsentAnswer[]> {
    return (await this.#run<UnsentAnswer[]>("readonly", (store) => store.getAll())) ?? [];
  }

  async #run<Value>(
    mode: IDBTransactionMode,
    act: (store: IDBObjectStore) => IDBRequest<Value>,
  ): Promise<Value | undefined> {
    try {
      this.#opened ??= open();
      const transaction = (await this.#opened).transaction(storeName, mode, { durability: "strict" });
      const request = act(transaction.objectStore(storeName));
      await new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
      return request.result;
    } catch {
      // An answer is sent as long as the page is open.
      return undefined;
    }
  }
}
