import fc from 'fast-check';
import { usageClasses, usageOf } from '#lib/core/metering/usage';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import { type Customer, callOf } from '#tests/support/settlement';

/** What a stranger may send: every character, halves of surrogate pairs, NUL, bytes that look like our own, length. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    '',
    '\u0000',
    '\ud800',
    '\udc00x',
    '"',
    '\\',
    '\u0001',
    '\u{1f4b8}'.repeat(600),
    'x'.repeat(1001),
  ),
  fc.constantFrom(
    `${'y'.repeat(999)}\u{1f4b8}`,
    '[3,"close"]',
    '\u00ff[3,"close","x","lease"]',
    "'; DROP TABLE call; --",
  ),
);
const maybe = fc.option(text);
const milliseconds = fc.nat(2_147_483_647);
const nano = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });

/** Calls of a workspace as no client should make them; ids and the moment are given. */
export function strangeCalls(customer: Customer): fc.Arbitrary<CallRecord> {
  const attempts = fc.array(
    fc.record({
      provider: text,
      model: text,
      status: fc.option(fc.integer({ min: 100, max: 599 })),
      error: maybe,
      startMs: milliseconds,
      durationMs: milliseconds,
      upstreamRequestId: maybe,
      credential: fc.oneof(fc.constant('default'), text),
      possibleDuplicate: fc.boolean(),
      providerCode: maybe,
      providerMessage: maybe,
    }),
    { maxLength: 3 },
  );
  const lines = fc.array(fc.record({ class: text, quantity: fc.maxSafeNat(), unitPriceNano: nano }), {
    maxLength: 4,
  });
  const usage = fc.dictionary(
    fc.constantFrom(...usageClasses),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }),
  );
  return fc
    .record({
      clientRequestId: maybe,
      atMs: fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2200, 0, 1) }),
      family: text,
      operation: text,
      requestedModel: maybe,
      answeringModel: maybe,
      provider: maybe,
      status: fc.integer({ min: 0, max: 599 }),
      errorCode: maybe,
      streamed: fc.boolean(),
      latencyMs: milliseconds,
      firstByteMs: fc.option(milliseconds),
      overheadMs: fc.float({ noNaN: true, noDefaultInfinity: true }),
      endReason: fc.constantFrom('completed', 'client_gone', 'timeout', 'interrupted'),
      usageSource: fc.constantFrom('reported', 'estimated', 'none'),
      flags: fc.array(text, { maxLength: 3 }),
      usage: usage.map(usageOf),
      lines,
      costNano: nano,
      holdNano: nano,
      priceVersionId: fc.option(fc.uuid()),
      userAgent: maybe,
      attempts,
    })
    .map((given) => callOf(customer, given));
}

/** A value as a row gives it back: texts without NUL and halves of surrogate pairs, at most 1,000 characters. */
export function asStored(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, 1000).replaceAll('\u0000', '\ufffd').toWellFormed();
  if (Array.isArray(value)) return value.map(asStored);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, asStored(one)]));
}
