import type { StreamReader } from '#lib/core/families/family';
import type { UsageReport } from '#lib/core/metering/usage';

/** What every family's stream reader reports, as plain fields that `event` updates; by itself it reads nothing. */
export class EventReader implements StreamReader {
  outputBytes = 0;
  said = 0;
  finished = false;
  ended = false;
  gaveReason = false;
  failed = false;
  error: unknown = undefined;

  event(_name: string | null, _data: string): void {}

  report(): UsageReport | null {
    return null;
  }

  /** The stream carried an error. */
  protected fail(error: unknown): void {
    this.failed = true;
    this.error = error;
  }

  /** The family's own end of a stream was seen. */
  protected end(): void {
    this.finished = true;
    this.ended = true;
  }
}
