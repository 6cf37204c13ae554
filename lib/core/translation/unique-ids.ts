/** Ids of tool calls as the provider gives them; one that is missing or repeats gets a number. */
export class UniqueIds {
  readonly #taken = new Set<string>();

  take(id: string): string {
    let unique = id === '' ? 'call' : id;
    for (let number = 2; this.#taken.has(unique); number++) unique = `${id === '' ? 'call' : id}_${number}`;
    this.#taken.add(unique);
    return unique;
  }
}
