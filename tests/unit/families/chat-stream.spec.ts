import { describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import { askChat } from '#tests/unit/families/make';

function reader(body: object = {}) {
  const stream = chat.streamReader(askChat({ model: 'm', stream: true, ...body }));
  return {
    say: (chunk: unknown, name: string | null = null) =>
      stream.event(name, typeof chunk === 'string' ? chunk : JSON.stringify(chunk)),
    input: () => stream.report()?.usage.input,
    stream,
  };
}
const usage = (prompt_tokens: number) => ({
  prompt_tokens,
  completion_tokens: 1,
  total_tokens: prompt_tokens + 1,
});

describe('a chat stream', () => {
  it('a chat stream has the usage that was reported last, wherever it appeared', () => {
    const { say, input } = reader();
    expect(input()).toBeUndefined();
    say({ choices: [], usage: null });
    expect(input()).toBeUndefined();
    say({ choices: [{ index: 0, delta: { content: 'a' } }], usage: usage(3) });
    expect(input()).toBe(3);
    say({ choices: [], usage: usage(5) });
    say({ choices: [], usage: null });
    expect(input()).toBe(5);
    say({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { usage: usage(7) } });
    expect(input()).toBe(7);
  });

  it('a chat stream has the tier that a chunk names, before or after its usage', () => {
    const { say, stream } = reader();
    say({ choices: [], usage: usage(3) });
    expect(stream.report()?.serviceTier).toBeNull();
    say({ choices: [], service_tier: 'flex' });
    expect(stream.report()?.serviceTier).toBe('flex');
  });

  it('a chat stream returns the same report until something new arrives', () => {
    const { say, stream } = reader();
    say({ choices: [], usage: usage(3) });
    const first = stream.report();
    say({ choices: [{ delta: { content: 'a' } }] });
    expect(stream.report()).toBe(first);
  });

  it('a chat stream is finished by [DONE], or when every choice has ended and usage was reported', () => {
    const done = reader();
    done.say({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    expect(done.stream.finished).toBe(false);
    done.say('[DONE]');
    expect(done.stream.finished).toBe(true);
    const silent = reader({ n: 2 });
    silent.say({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: usage(1) });
    expect(silent.stream.finished).toBe(false);
    silent.say({ choices: [{ index: 1, delta: {}, finish_reason: 'length' }] });
    expect(silent.stream.finished).toBe(true);
  });

  it('a chat stream with an error event has failed, and still has its usage', () => {
    const named = reader();
    named.say({ message: 'x' }, 'error');
    expect(named.stream.failed).toBe(true);
    const inside = reader();
    inside.say({ error: { code: 502 }, choices: [{ delta: {}, finish_reason: 'error' }], usage: usage(43) });
    expect([inside.stream.failed, inside.input()]).toEqual([true, 43]);
    const fine = reader();
    fine.say({ error: null, choices: [] });
    expect(fine.stream.failed).toBe(false);
  });

  it('a chat stream counts the bytes of deltas, not of repeated messages, and survives nonsense', () => {
    const { say, stream } = reader();
    say({ choices: [{ delta: { content: 'ab' }, message: { content: 'abcdef' } }] });
    say({ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{"' } }] } }] });
    for (const odd of ['', 'not json', '5', 'null', '[1]', '{"choices":{}}', '{"choices":[null]}']) say(odd);
    expect(stream.outputBytes).toBe(4);
  });
});
