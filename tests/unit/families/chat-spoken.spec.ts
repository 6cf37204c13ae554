import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { chat } from '#lib/core/families/chat';
import { askChat, readChat } from '#tests/unit/families/make';

const audio = { voice: 'alloy', format: 'wav' };
const said = (id: unknown) => ({ role: 'assistant', audio: { id } });
const shown = (id: string) => ({ kind: 'item', id });

describe('an answer that was spoken, which a conversation repeats by its id alone,', () => {
  it('a spoken answer is referred to once, and must be the workspace’s own', () => {
    const messages = [said('audio_1'), { role: 'user', content: 'Go on' }, said('audio_2'), said('audio_1')];
    expect(askChat({ model: 'm', messages }).references).toEqual([
      { kind: 'item', id: 'audio_1', required: true },
      { kind: 'item', id: 'audio_2', required: true },
    ]);
  });

  it.each([[[]], [[said(null)]], [[{ role: 'assistant', audio: null }]], ['not a list'], [['audio']]])(
    'is not named by messages %j',
    (messages) => {
      expect(askChat({ model: 'm', messages })).not.toHaveProperty('references');
    },
  );

  it.each([1, {}, ['audio_1'], true])('a spoken answer with an id of another type is refused: %j', (id) => {
    expect(isRefusal(readChat({ model: 'm', messages: [said(id)] }))).toBe(true);
  });

  it('a request with too many spoken answers is refused', () => {
    const messages = Array.from({ length: 1_001 }, (_, index) => said(`audio_${index}`));
    expect(isRefusal(readChat({ model: 'm', messages }))).toBe(true);
    expect(askChat({ model: 'm', messages: messages.slice(1) }).references).toHaveLength(1_000);
  });

  it('spoken answers are only searched for if the request names a voice', () => {
    expect(askChat({ model: 'm', audio }).shows).toBeUndefined();
    expect(askChat({ model: 'm' }).shows).toBe(false);
    expect(askChat({ model: 'm', audio: null }).shows).toBe(false);
  });

  it('a whole answer shows one spoken answer for each choice', () => {
    const { operation } = askChat({ model: 'm', audio });
    const choices = [
      { message: said('audio_1') },
      { message: { content: 'Written' } },
      { message: said('audio_2') },
    ];
    expect(chat.shown?.(operation, { choices })).toEqual([shown('audio_1'), shown('audio_2')]);
    expect(chat.shown?.(operation, { error: {} })).toEqual([]);
  });

  it('the chunks of a stream show a spoken answer once', () => {
    const reader = chat.streamReader(askChat({ model: 'm', stream: true, n: 2, audio }));
    const chunk = (index: number, id: string) =>
      reader.event(null, JSON.stringify({ choices: [{ index, delta: { audio: { id, data: 'AAAA' } } }] }));
    expect(reader.shown).toEqual([]);
    chunk(0, 'audio_1');
    chunk(0, 'audio_1');
    expect(reader.shown).toEqual([shown('audio_1')]);
    chunk(1, 'audio_2');
    chunk(0, 'audio_1');
    expect(reader.shown).toEqual([shown('audio_1'), shown('audio_2')]);
  });
});
