import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { messages } from '#lib/core/families/messages';
import { askMessages, readMessages } from '#tests/unit/families/messages/make';

const said = { model: 'm', max_tokens: 9, messages: [] };
const tools = [{ type: 'code_execution_20250825', name: 'code_execution' }];
const shown = [{ kind: 'item', id: 'container_1' }];

describe('a container, with all that earlier calls left there,', () => {
  it.each([
    ['by its id', 'container_1'],
    ['in an object', { id: 'container_1', skills: [] }],
  ])('is named %s and must be the workspace’s own', (_name, container) => {
    const references = [{ kind: 'item', id: 'container_1', required: true }];
    expect(askMessages({ ...said, container }).references).toEqual(references);
  });

  it.each([null, {}, { id: null, skills: [] }])(
    'without a name a container is a new one: %j',
    (container) => {
      expect(askMessages({ ...said, container })).not.toHaveProperty('references');
    },
  );

  it.each([1, ['container_1'], { id: 1 }])(
    'a container with a name of another type is refused: %j',
    (container) => {
      expect(isRefusal(readMessages({ ...said, container }))).toBe(true);
    },
  );

  it('a container is searched for only in answers that may create one', () => {
    expect(askMessages({ ...said, tools }).shows).toBeUndefined();
    expect(askMessages({ ...said, container: { skills: [] } }).shows).toBeUndefined();
    expect(askMessages(said).shows).toBe(false);
    expect(askMessages({ ...said, tools: [{ name: 'f', input_schema: {} }] }).shows).toBe(false);
  });

  it('a whole answer shows its container', () => {
    const ask = askMessages({ ...said, tools });
    const answer = { type: 'message', id: 'msg_1', container: { id: 'container_1', expires_at: 'soon' } };
    expect(messages.shown?.(ask.operation, answer)).toEqual(shown);
    expect(messages.shown?.(ask.operation, { ...answer, container: null })).toEqual([]);
    expect(messages.shown?.(ask.operation, { type: 'error', error: {} })).toEqual([]);
  });

  it.each([
    ['start', { type: 'message_start', message: { id: 'msg_1', container: { id: 'container_1' } } }],
    ['delta', { type: 'message_delta', delta: { container: { id: 'container_1' } }, usage: {} }],
  ])('is shown by the %s of a stream, once', (_name, event) => {
    const reader = messages.streamReader(askMessages({ ...said, tools, stream: true }));
    reader.event('message_start', JSON.stringify({ type: 'message_start', message: { id: 'msg_1' } }));
    expect(reader.shown).toEqual([]);
    reader.event(event.type, JSON.stringify(event));
    reader.event(event.type, JSON.stringify(event));
    expect(reader.shown).toEqual(shown);
  });
});
