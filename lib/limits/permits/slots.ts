/** Up to this many calls at once, a slot goes back as soon as its call has ended. */
const FEW = 10;
/** One of more goes back within this, where hardly any are left; ms. */
const SCARCE_MS = 10;

function isScarce(most: number | null, room: number | null): boolean {
  return most !== null && (most <= FEW || (room !== null && room <= most / 4));
}

/** The slots of one key or workspace in this process. */
export class Slots {
  /** By running calls. */
  used = 0;
  /** What the store counts as this process's; less than `used` where nothing was asked for. */
  held = 0;
  #peak = 0;
  #peakBefore = 0;

  get spare(): number {
    return Math.max(0, this.held - this.used);
  }

  enter(): void {
    this.used++;
    this.#peak = Math.max(this.#peak, this.used);
  }

  /**
   * @param room slots that the store had left.
   * @returns within how many ms the store should hear of it, because others may be waiting for it; null: no hurry.
   */
  leave(most: number | null, room: number | null): number | null {
    this.used--;
    if (!isScarce(most, room) || this.spare === 0) return null;
    return (most ?? 0) <= FEW ? 0 : SCARCE_MS;
  }

  /** What is held from now on: spare ones as far as the last moments needed them, but none of few. */
  keep(most: number | null, room: number | null): number {
    const peak = Math.max(this.#peak, this.#peakBefore);
    this.#peakBefore = this.#peak;
    this.#peak = this.used;
    const ahead = isScarce(most, room) ? 0 : peak - this.used;
    this.held = this.used + Math.min(this.spare, ahead);
    return this.held;
  }

  /** How many more are worth asking for, in case that more calls come. */
  ahead(): number {
    return this.spare > 0 ? 0 : Math.ceil(this.used / 4) + 1;
  }
}
