import { describe, expect, it } from 'vitest';
import { findText, textsOf } from '#lib/control/operations/content/texts';

const stream = (events: readonly object[]) => ({
  contentType: 'text/event-stream; charset=utf-8',
  text: events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join(''),
});
const json = (value: unknown) => ({ contentType: 'application/json', text: JSON.stringify(value) });
const around = (texts: readonly string[], wanted: string) => {
  const found = findText(texts, wanted);
  return found && [found.before, found.match, found.after];
};

describe('the texts of kept content (contract: content/search)', () => {
  const pieces = ['The ref', 'und pol', 'icy'];
  it.each([
    ['chat', pieces.map((content) => ({ choices: [{ index: 0, delta: { content } }] }))],
    ['responses', pieces.map((delta) => ({ type: 'response.output_text.delta', delta }))],
    [
      'messages',
      pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    ],
    ['generate-content', pieces.map((text) => ({ candidates: [{ content: { parts: [{ text }] } }] }))],
  ])('are put together from the pieces of a stream of %s', (_, events) => {
    expect(findText(textsOf(stream(events)), 'refund policy')).not.toBeNull();
    expect(findText(textsOf(json(events)), 'refund policy')).not.toBeNull();
  });

  it('are written as people read them, not as JSON escapes them', () => {
    expect(around(textsOf(json({ a: 'Say "été"\n\nnow' })), '"Été" now')).toBeNull();
    expect(around(textsOf({ contentType: '', text: '{"a":"caf\\u00e9 \\"x\\""}' }), 'CAFÉ "X"')).toEqual([
      '',
      'café "x"',
      '',
    ]);
  });

  it('of a body that was cut, or is no JSON, are the body', () => {
    expect(around(textsOf({ contentType: 'application/json', text: '{"a":"one two' }), 'one')).toEqual([
      '{"a":"',
      'one',
      ' two',
    ]);
    expect(textsOf({ contentType: 'image/png', text: null })).toEqual([]);
    expect(textsOf({ contentType: '', text: '7' })).toEqual(['7']);
  });

  it('of a very deep body do not exhaust the stack', () => {
    const deep = `${'['.repeat(5_000)}"x"${']'.repeat(5_000)}`;
    expect(() => textsOf({ contentType: 'application/json', text: deep })).not.toThrow();
  });

  it('are shown on one line with 80 characters around the match, and no half characters', () => {
    const text = `${'😀'.repeat(60)}\n match \t${'x'.repeat(200)}`;
    const [before, match, after] = around([text], 'MATCH') ?? [];
    expect(match).toBe('match');
    expect(before).toBe(`…${'😀'.repeat(39)} `);
    expect(after).toBe(` ${'x'.repeat(78)}…`);
    expect(around(['İstanbul Match'], 'match')?.[1]).toBe('match');
  });
});
