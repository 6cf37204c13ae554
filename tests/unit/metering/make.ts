import { createReading } from '#lib/core/metering/create-meter';
import type { Meter } from '#lib/core/metering/meter';

/** The meter of one answer, in the form that its headers tell. */
export const createMeter = (...answer: Parameters<typeof createReading>): Meter =>
  createReading(...answer).meter;
