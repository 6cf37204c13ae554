import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newClient, upload } from '#tests/gateway/batches/stage';
import { closeBalanced } from '#tests/support/books';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

describe('files (contract: batches/files)', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await joinStack();
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  it('are uploaded, listed, read, downloaded and deleted with the official SDK', async () => {
    const [own, other] = [await newClient(stack), await newClient(stack)];
    const made = await upload(own, ['Some', 'text'], 'user_data');
    expect(made).toMatchObject({
      object: 'file',
      bytes: 9,
      purpose: 'user_data',
      filename: 'requests.jsonl',
    });
    expect(await own.client.files.retrieve(made.id)).toMatchObject({ id: made.id, bytes: 9 });
    expect(await (await own.client.files.content(made.id)).text()).toBe('Some\ntext');
    expect((await own.client.files.list({ purpose: 'batch' })).data).toEqual([]);
    expect((await other.client.files.list()).data).toEqual([]);
    await expect(other.client.files.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect(await own.client.files.delete(made.id)).toMatchObject({ deleted: true });
    await expect(own.client.files.content(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it.each([
    ['an empty file', () => ({ purpose: 'user_data', files: [['file', '']] })],
    ['no file', () => ({ purpose: 'user_data', files: [] })],
    [
      'two files',
      () => ({
        purpose: 'user_data',
        files: [
          ['file', 'a'],
          ['file', 'b'],
        ],
      }),
    ],
    ['no purpose', () => ({ purpose: null, files: [['file', 'a']] })],
  ])('are refused by our own checks: %s', async (_, parts) => {
    const own = await newClient(stack);
    const { purpose, files } = parts();
    const form = new FormData();
    if (purpose !== null) form.set('purpose', purpose);
    for (const [name = '', text = ''] of files) form.append(name, new Blob([text]), 'a.txt');
    const headers = { authorization: `Bearer ${own.key}` };
    const answer = await fetch(`${stack.url}/v1/files`, { method: 'POST', headers, body: form });
    expect([answer.status, (await answer.json()).error.code]).toEqual([400, 'invalid_body']);
  });

  it('go to the provider that X-Provider names, which must store them (contract: routing/no-model)', async () => {
    const own = await newClient(stack);
    const file = await toFile(Buffer.from('text'), 'a.txt');
    const to = (name: string) =>
      own.client.files.create({ file, purpose: 'user_data' }, { headers: { 'x-provider': name } });
    expect(await to('sandbox')).toMatchObject({ object: 'file' });
    await expect(to('nobody')).rejects.toMatchObject({ status: 400, code: 'invalid_body' });
  });
});
