import { describe, expect, it } from 'vitest';
import { type Draft, firstSettings, playgroundFamilies, type Turn } from '#lib/console/playground/draft';
import { acceptedFiles, requestOf, talks } from '#lib/console/playground/request';
import { readAsk, readPath } from '#lib/control/operations/route/ask';
import { familyOf } from '#lib/core/families/index';

const picture = { name: 'a.png', mediaType: 'image/png', base64: 'AAAA' };
const paper = { name: 'b.pdf', mediaType: 'application/pdf', base64: 'BBBB' };
const ask = (text: string, ...files: (typeof picture)[]): Turn => ({ role: 'user', text, files });
const turns = [ask('Hi'), { role: 'assistant', text: 'Hello.' } as const, ask('More', picture, paper)];
const settings = { ...firstSettings, system: ' Be brief. ', temperature: '0.5', maxTokens: '100' };
const draft = (part: Partial<Draft> = {}): Draft => ({
  model: 'vendor/name',
  output: ['text'],
  turns: [ask('Hi')],
  settings: firstSettings,
  ...part,
});

describe('a question is written for each protocol', () => {
  it.each(playgroundFamilies)('%s: the gateway reads it as intended', (family) => {
    const budgeted = talks(family);
    const streamed = budgeted || family === 'images';
    const request = requestOf(
      family,
      draft({ settings: { ...settings, size: '512x512', count: '2', seconds: '4' } }),
    );
    const meant = readPath(request.path);
    const known = familyOf(meant.family);
    if (!known) throw new Error('the gateway has it');
    const read = readAsk(known, 'vendor/name', request.body, meant.operation);
    expect([meant.family, meant.model ?? read.model, read.budget]).toEqual([
      family,
      'vendor/name',
      budgeted ? 100 : null,
    ]);
    expect(request.streamed).toBe(streamed);
    if (family !== 'generate-content') expect(read.stream).toBe(request.streamed);
  });

  it.each([
    ['speech', 'Hi', { input: 'Hi', voice: 'alloy', response_format: 'wav' }],
    ['embeddings', 'One\n\n two ', { input: ['One', 'two'] }],
    ['rerank', 'Query\nOne\nTwo', { query: 'Query', documents: ['One', 'Two'] }],
    ['moderations', 'One\ntwo', { input: 'One\ntwo' }],
  ] as const)('%s contains what was written, line by line if it takes several', (family, text, body) => {
    const { body: sent } = requestOf(family, draft({ turns: [ask(text)] }));
    expect(sent).toEqual({ model: 'vendor/name', ...body });
  });

  it('a transcript is a form with the file, and the text is its prompt', () => {
    const sound = { name: 'a.wav', mediaType: 'audio/wav', base64: 'AAAA' };
    const request = requestOf('transcriptions', draft({ turns: [ask('Ann', sound)] }));
    expect(request).toMatchObject({ file: sound, body: { model: 'vendor/name', prompt: 'Ann' } });
    expect(requestOf('transcriptions', draft({ turns: [ask('', sound)] })).body).toEqual({
      model: 'vendor/name',
    });
    expect(acceptedFiles('transcriptions', ['audio'])).toContain('audio/mpeg');
    expect(acceptedFiles('speech', ['text', 'image'])).toBe('');
  });

  it('chat completions contain the conversation, and files as parts', () => {
    expect(requestOf('chat', draft({ turns, settings })).body).toEqual({
      model: 'vendor/name',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello.' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'file', file: { filename: 'b.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
            { type: 'text', text: 'More' },
          ],
        },
      ],
      temperature: 0.5,
      max_completion_tokens: 100,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('responses have a single text as a string, and files as input parts', () => {
    const whole = { ...settings, stream: false };
    expect(requestOf('responses', draft()).body).toEqual({ model: 'vendor/name', input: 'Hi', stream: true });
    expect(requestOf('responses', draft({ turns, settings: whole })).body).toMatchObject({
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: [{ type: 'input_image' }, { type: 'input_file' }, { type: 'input_text' }] },
      ],
      max_output_tokens: 100,
    });
  });

  it('messages always have a budget', () => {
    expect(requestOf('messages', draft()).body).toEqual({
      model: 'vendor/name',
      max_tokens: 1024,
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    });
    const { body } = requestOf('messages', draft({ turns, settings }));
    expect(body).toMatchObject({ system: 'Be brief.', max_tokens: 100 });
    expect(JSON.stringify(body.messages)).toContain('"media_type":"application/pdf"');
  });

  it('generate content has its model in the address, slashes and all', () => {
    const request = requestOf('generate-content', draft({ turns, settings }));
    expect(request.path).toBe('/v1beta/models/vendor/name:streamGenerateContent?alt=sse');
    expect(request.body).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'model', parts: [{ text: 'Hello.' }] },
        {
          role: 'user',
          parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }, {}, { text: 'More' }],
        },
      ],
      generationConfig: { temperature: 0.5, maxOutputTokens: 100 },
    });
    const film = draft({ output: ['video'], settings: { ...firstSettings, seconds: '8' } });
    expect(requestOf('generate-content', film)).toMatchObject({
      path: '/v1beta/models/vendor/name:predictLongRunning',
      body: { instances: [{ prompt: 'Hi' }], parameters: { durationSeconds: 8 } },
      job: true,
    });
  });

  it('a picture with the prompt is edited, or is the start of a video', () => {
    const drawn = draft({
      turns: [ask('Fog', picture)],
      settings: { ...firstSettings, stream: false, count: '2' },
    });
    expect(requestOf('images', drawn)).toMatchObject({
      path: '/v1/images/edits',
      body: { prompt: 'Fog', n: 2, images: [{ image_url: 'data:image/png;base64,AAAA' }] },
      streamed: false,
    });
    expect(requestOf('videos', drawn).body).toEqual({
      model: 'vendor/name',
      prompt: 'Fog',
      input_reference: { image_url: 'data:image/png;base64,AAAA' },
    });
  });

  it('a value that is not a number is sent as typed, so that the gateway refuses it', () => {
    const odd = { ...firstSettings, temperature: 'hot', maxTokens: ' 1e2 ' };
    expect(requestOf('chat', draft({ settings: odd })).body).toMatchObject({
      temperature: 'hot',
      max_completion_tokens: 100,
    });
  });
});

describe('the files that can be attached', () => {
  it.each([
    ['chat', ['text', 'image', 'pdf'], 'image/png,image/jpeg,image/webp,image/gif,application/pdf'],
    ['messages', ['text', 'audio'], ''],
    ['images', ['text', 'image', 'pdf'], 'image/png,image/jpeg,image/webp'],
    ['generate-content', ['video'], 'video/mp4'],
  ] as const)('%s of a model that reads %j', (family, input, accepted) => {
    expect(acceptedFiles(family, input)).toBe(accepted);
  });
});
