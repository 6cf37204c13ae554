/** Up to this many calls at once, a slot goes back as soon as its call has ended. */
const FEW = 10;
/** Of more than that, a freed slot goes back within this when hardly any are left; ms. */
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

  /** Drops spare slots beyond the recent peak, and all of them where slots are scarce. @returns what is held now. */
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
