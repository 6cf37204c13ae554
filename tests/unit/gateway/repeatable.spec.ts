import { describe, expect, it } from 'vitest';
import type { Ask } from '#lib/core/families/family';
import { familyOf, operations } from '#lib/core/families/index';
import { isRepeatable } from '#lib/gateway/flow/attempt/repeatable';
import { askOf } from '#tests/unit/routing/make';

const { shows: _, ...plain } = askOf();

function repeatable(name: string, more: Partial<Ask> = {}): boolean {
  const operation = operations.find((one) => one.name === name);
  const family = operation && familyOf(operation.family);
  if (!operation || !family) throw new Error(`no operation ${name}`);
  return isRepeatable({ operation, family, ask: { ...plain, operation, ...more } });
}

const reference = { kind: 'conversation', id: 'c', required: true } as const;

describe('a call that may be sent twice (contract: routing/pooled-connections)', () => {
  it.each([
    ['chat.create', { shows: false }],
    ['messages.create', { shows: false }],
    ['messages.count_tokens', {}],
    ['content.generate', {}],
    ['content.stream', {}],
    ['images.generate', {}],
    ['images.edit', {}],
    ['responses.create', { unkept: true }],
    ['responses.compact', { unkept: true }],
    ['responses.retrieve', {}],
    ['videos.content', {}],
  ] as const)('%s %j', (name, more) => expect(repeatable(name, more)).toBe(true));

  it.each([
    ['chat.create', {}],
    ['messages.create', {}],
    ['responses.create', {}],
    ['responses.create', { unkept: true, references: [reference] }],
    ['responses.create', { unkept: true, job: {} }],
    ['responses.cancel', {}],
    ['responses.delete', {}],
    ['videos.create', {}],
    ['videos.remix', {}],
    ['videos.delete', {}],
    ['content.predictLongRunning', {}],
  ] as const)('%s %j makes, ends or deletes something', (name, more) =>
    expect(repeatable(name, more)).toBe(false),
  );
});
