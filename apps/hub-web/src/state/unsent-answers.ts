import type { ApprovalRecord } from "@harnesskit/protocol/hub";
import type { Answer } from "./inbox.ts";

/** What was answered, and how. */
export type UnsentAnswer = Pick<ApprovalRecord, "id" | "digest"> & { readonly answer: Answer };

const storeName = "answers";

const outcomeOf = <Value>(request: IDBRequest<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
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
    await this.#change((store) => store.put(unsent));
  }

  async forget(id: string): Promise<void> {
    await this.#change((store) => store.delete(id));
  }

  async all(): Promise<readonly UnsentAnswer[]> {
    try {
      const transaction = (await this.#open()).transaction(storeName);
      return await outcomeOf(transaction.objectStore(storeName).getAll());
    } catch {
      return [];
    }
  }

  async #change(change: (store: IDBObjectStore) => void): Promise<void> {
    try {
      const transaction = (await this.#open()).transaction(storeName, "readwrite", { durability: "strict" });
      change(transaction.objectStore(storeName));
      await new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error);
      });
    } catch {
      // It is sent as long as the page is open.
    }
  }

  #open(): Promise<IDBDatabase> {
    this.#opened ??= (async () => {
      const request = indexedDB.open("harness-hub-unsent", 1);
      request.onupgradeneeded = () => request.result.createObjectStore(storeName, { keyPath: "id" });
      return outcomeOf(request);
    })();
    return this.#opened;
  }
}
