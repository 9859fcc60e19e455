/** A member of one {@link LinkedList}, with its neighbours. */
export class ListNode {
  previous: ListNode | undefined;
  next: ListNode | undefined;
}

/**
 * Members in the order in which they were put last. Other than a Map it finds its first member at once also after many have
 * left from its front: a Map steps over each place that they left empty.
 */
export class LinkedList<T extends ListNode> {
  #first: ListNode | undefined;
  #last: ListNode | undefined;

  get first(): T | undefined {
    return this.#first as T | undefined;
  }

  /** Puts the node, which is in no list, behind all others. */
  push(node: T): void {
    node.previous = this.#last;
    node.next = undefined;
    if (this.#last) this.#last.next = node;
    else this.#first = node;
    this.#last = node;
  }

  remove(node: T): void {
    if (node.previous) node.previous.next = node.next;
    else this.#first = node.next;
    if (node.next) node.next.previous = node.previous;
    else this.#last = node.previous;
    node.previous = undefined;
    node.next = undefined;
  }
}
