/** Slots at the start; a power of two. */
const FIRST_SLOTS = 1024;

interface Node<V> {
  readonly id: string;
  value: V;
  next: Node<V> | null;
}

/**
 * What is known of running calls, by id. A `Map` through which thousands of short-lived entries pass a
 * second costs more than the calls: each of its rehashes leaves a dead table behind that still points at
 * its entries and at the next table, and once one such table is in the old generation, everything that
 * ever passed through is copied there too, until the next full collection.
 */
export class CallTable<V> {
  #slots: (Node<V> | null)[] = emptySlots(FIRST_SLOTS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: string): V | undefined {
    for (let node = this.#slots[this.#slotOf(id)] ?? null; node; node = node.next) {
      if (node.id === id) return node.value;
    }
    return undefined;
  }

  /** Enters a call, or replaces what is known of it. */
  set(id: string, value: V): void {
    const slot = this.#slotOf(id);
    const first = this.#slots[slot] ?? null;
    for (let node = first; node; node = node.next) {
      if (node.id === id) {
        node.value = value;
        return;
      }
    }
    this.#slots[slot] = { id, value, next: first };
    this.#size += 1;
    if (this.#size > this.#slots.length) this.#grow();
  }

  /** @returns false when nothing was known of it. */
  delete(id: string): boolean {
    const slot = this.#slotOf(id);
    let before: Node<V> | null = null;
    for (let node = this.#slots[slot] ?? null; node; before = node, node = node.next) {
      if (node.id !== id) continue;
      if (before) before.next = node.next;
      else this.#slots[slot] = node.next;
      // Dead, it must not keep the others of its slot alive.
      node.next = null;
      this.#size -= 1;
      return true;
    }
    return false;
  }

  /** Everything in it, in no order. */
  *values(): Generator<V> {
    for (const first of this.#slots) for (let node = first; node; node = node.next) yield node.value;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = emptySlots(old.length * 2);
    for (const [at, first] of old.entries()) {
      old[at] = null;
      for (let node = first; node; ) {
        const next: Node<V> | null = node.next;
        const slot = this.#slotOf(node.id);
        node.next = this.#slots[slot] ?? null;
        this.#slots[slot] = node;
        node = next;
      }
    }
  }

  /** By the end of the id: the start of a UUIDv7 is its time. */
  #slotOf(id: string): number {
    let hash = 0;
    for (let at = Math.max(0, id.length - 8); at < id.length; at++) {
      hash = (Math.imul(hash, 31) + id.charCodeAt(at)) | 0;
    }
    return hash & (this.#slots.length - 1);
  }
}

function emptySlots<V>(count: number): (Node<V> | null)[] {
  return new Array<Node<V> | null>(count).fill(null);
}
