import type { MoneyStore } from '#lib/gateway/admission/money-store';

/** Hold rows that no call needs any more; what could not be removed is tried again. */
export class UnwantedRows {
  readonly #money: MoneyStore;
  readonly #report: (error: unknown) => void;
  readonly #ids = new Set<string>();
  #removing: Promise<void> | null = null;

  constructor(money: MoneyStore, report: (error: unknown) => void) {
    this.#money = money;
    this.#report = report;
  }

  /** Removes these rows, and those left from before; never rejects. All asked meanwhile share a statement. */
  async remove(callIds: readonly string[]): Promise<void> {
    for (const id of callIds) this.#ids.add(id);
    await this.#removing;
    if (this.#ids.size === 0) return;
    this.#removing ??= this.#sweep().finally(() => {
      this.#removing = null;
    });
    await this.#removing;
  }

  async #sweep(): Promise<void> {
    const gone = [...this.#ids];
    try {
      await this.#money.removeHolds(gone);
      for (const id of gone) this.#ids.delete(id);
    } catch (error) {
      this.#report(error);
    }
  }
}
