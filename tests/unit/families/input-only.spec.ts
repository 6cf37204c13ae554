import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { completions } from '#lib/core/families/completions';
import { applyEdits } from '#lib/core/families/edits';
import { embedContent } from '#lib/core/families/embed-content';
import type { Ask, Family } from '#lib/core/families/family';
import { embeddings, rerank } from '#lib/core/families/input-only';
import { scan } from '#lib/core/families/scan';
import { makeOffer } from '#tests/unit/families/make';

function read(family: Family, body: object, at = 0) {
  const operation = family.operations[at];
  if (!operation?.fields) throw new Error(`${family.id} has no such operation`);
  const scanned = scan(Buffer.from(JSON.stringify(body)), operation.fields);
  if ('fault' in scanned) throw new Error(scanned.fault);
  return family.readAsk({ operation, params: { model: 'vendor/name' }, scan: scanned });
}

function askOf(family: Family, body: object, at = 0): Ask {
  const ask = read(family, body, at);
  if (isRefusal(ask)) throw new Error(ask.message);
  return ask;
}

describe('usage of answers without output (contract: families/input-only)', () => {
  const ask = askOf(embeddings, { model: 'm', input: 'a' });
  it.each([
    ['OpenAI', { prompt_tokens: 9, total_tokens: 9 }, 9],
    ['Voyage and Jina', { total_tokens: 9 }, 9],
    ['others', { input_tokens: 8, total_tokens: 9 }, 8],
  ])('as %s report it', (_vendor, usage, input) => {
    for (const family of [embeddings, rerank])
      expect(family.readUsage(ask, { usage })?.usage).toMatchObject({ input, output: 0 });
  });

  it.each([[{}], [{ usage: null }], [{ usage: {} }]])('%j reports none', (answer) => {
    expect(embeddings.readUsage(ask, answer)).toBeNull();
  });
});

describe('a body of embed-content (contract: families/path-model)', () => {
  const edited = (body: object, at: number) => {
    const ask = askOf(embedContent, body, at);
    const edits = embedContent.edits(ask, makeOffer({ upstreamModel: 'own' }), null);
    return JSON.parse(Buffer.from(applyEdits(ask.scan.body, edits)).toString());
  };

  it('has the name of the provider wherever it names its model', () => {
    expect(edited({ model: 'models/a', content: {} }, 0)).toEqual({ model: 'models/own', content: {} });
    const requests = [{ model: 'models/a' }, { content: { model: 'kept' } }, { model: 'models/own' }];
    expect(edited({ requests }, 1).requests.map(({ model }: { model?: string }) => model)).toEqual([
      'models/own',
      undefined,
      'models/own',
    ]);
  });

  it('is refused if the name is no string', () => {
    expect(read(embedContent, { requests: [{ model: 7 }] }, 1)).toMatchObject({ code: 'invalid_body' });
  });
});

describe('the number of completions (contract: families/completions)', () => {
  it.each([
    [{ prompt: 'a' }, 1],
    [{}, 1],
    [{ prompt: [1, 2, 3] }, 1],
    [{ prompt: ['a', 'b'] }, 2],
    [{ prompt: [[1, 2], [3]], n: 3 }, 6],
    [{ prompt: 'a', n: 2, best_of: 5 }, 5],
    [{ prompt: [] }, 1],
  ])('of %j is %i', (body, choices) => {
    expect(askOf(completions, { model: 'm', ...body }).choices).toBe(choices);
  });
});
