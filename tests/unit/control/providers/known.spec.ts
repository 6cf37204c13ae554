import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slugFor } from '#lib/control/providers/known';
import { catalogueShape } from '#lib/core/schemas/catalogue';

describe('the slug of a new model', () => {
  it('is the provider and the name, without the tag "latest"', () => {
    const free = () => false;
    expect(slugFor('ollama', 'llama3.2:latest', free)).toBe('ollama/llama3.2');
    expect(slugFor('ollama', 'qwen3:8b', free)).toBe('ollama/qwen3:8b');
    expect(slugFor('lab', 'Qwen/Qwen3 8B (instruct)', free)).toBe('lab/Qwen/Qwen3-8B-instruct-');
    expect(slugFor('lab', '/../', free)).toBe('lab/model');
  });

  it('is another one if that is taken', () => {
    const taken = new Set(['ollama/a', 'ollama/a-2']);
    expect(slugFor('ollama', 'a', (slug) => taken.has(slug))).toBe('ollama/a-3');
  });

  it('is one that a catalogue file takes, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }), (name) => {
        const id = slugFor('lab', name, () => false);
        const model = {
          id,
          name: 'M',
          contextTokens: 1,
          maxOutputTokens: 1,
          input: ['text'],
          output: ['text'],
        };
        expect(catalogueShape.safeParse({ models: [{ ...model, offers: [] }] }).success, id).toBe(true);
      }),
    );
  });
});
