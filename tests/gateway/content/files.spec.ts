import { randomBytes } from 'node:crypto';
import { ApiError, createPartFromUri, type File, GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asker, tell } from '#tests/gateway/resources/possessions';
import { closeBalanced } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';
import { textTokens } from '#tools/sandbox/content/tokens';
import { record } from '#tools/sandbox/content/tool-call';

type Client = Asker & { readonly files: GoogleGenAI['files']; readonly models: GoogleGenAI['models'] };

const model = 'sandbox/echo';
const text = 'Some words in a file';
const blob = (content: string | Buffer<ArrayBuffer> = text) => new Blob([content], { type: 'text/plain' });

describe.each(['node', 'web'] as const)(
  'files of generate-content, over the %s lane (contract: batches/content-files)',
  (lane) => {
    let stack: Stack;
    beforeAll(async () => {
      stack = await joinStack(lane);
    });
    afterAll(async () => {
      await closeBalanced(stack);
    });

    async function newClient(apiVersion?: string): Promise<Client> {
      const { slug } = await stack.workspace({ rpm: 10_000 });
      const { key } = await stack.key(slug);
      return { url: stack.url, key, ...connect(key, apiVersion) };
    }

    function connect(key: string, apiVersion?: string) {
      const httpOptions = { baseUrl: stack.url, ...(apiVersion ? { apiVersion } : {}) };
      const { files, models } = new GoogleGenAI({ apiKey: key, httpOptions });
      return { files, models };
    }

    async function listed({ files }: Client, pageSize = 10): Promise<(string | undefined)[]> {
      const names: (string | undefined)[] = [];
      for await (const { name } of await files.list({ config: { pageSize } })) names.push(name);
      return names;
    }

    const nameOf = ({ name = '' }: File) => name;
    const start = (key: string, headers: Record<string, string> = {}, body: object = {}) =>
      fetch(`${stack.url}/upload/v1beta/files`, {
        method: 'POST',
        headers: {
          'x-goog-api-key': key,
          'x-goog-upload-protocol': 'resumable',
          'x-goog-upload-command': 'start',
          'x-goog-upload-header-content-length': '10',
          'x-goog-upload-header-content-type': 'text/plain',
          ...headers,
        },
        body: JSON.stringify({ file: body }),
      });
    const send = (address: string, command: string, offset: number, body: string, key?: string) =>
      fetch(address, {
        method: 'POST',
        headers: {
          'x-goog-upload-command': command,
          'x-goog-upload-offset': String(offset),
          ...(key === undefined ? {} : { 'x-goog-api-key': key }),
        },
        body,
      });
    const codeOf = async (answer: Response) => [
      answer.status,
      record(record(await answer.json()).error).code,
    ];
    const addressOf = (answer: Response) => answer.headers.get('x-goog-upload-url') ?? '';

    it.each([undefined, 'v1beta', 'v1alpha'])(
      'are uploaded, listed, read, used and deleted with the official SDK, API version %s',
      async (version) => {
        const [own, other] = [await newClient(version), await newClient(version)];
        const made = await own.files.upload({ file: blob(), config: { displayName: 'Words' } });
        expect(made).toMatchObject({ displayName: 'Words', mimeType: 'text/plain', state: 'ACTIVE' });
        expect(await own.files.get({ name: nameOf(made) })).toMatchObject({ sizeBytes: String(text.length) });
        await eventually(() => listed(own), [made.name]);
        const contents = ['What is in it?', createPartFromUri(made.uri ?? '', 'text/plain')];
        const bare = await own.models.generateContent({ model, contents: ['What is in it?'] });
        const answer = await own.models.generateContent({ model, contents });
        const added =
          (answer.usageMetadata?.promptTokenCount ?? 0) - (bare.usageMetadata?.promptTokenCount ?? 0);
        expect(added).toBe(textTokens(text));

        expect(await listed(other)).toEqual([]);
        for (const use of [
          () => other.files.get({ name: nameOf(made) }),
          () => other.files.delete({ name: nameOf(made) }),
          () => other.models.generateContent({ model, contents }),
          () => other.models.countTokens({ model, contents }),
        ]) {
          const error = await use().catch((caught: unknown) => caught);
          expect(error).toBeInstanceOf(ApiError);
          expect(error).toMatchObject({ status: 404 });
        }

        await own.files.delete({ name: nameOf(made) });
        await expect(own.files.get({ name: nameOf(made) })).rejects.toMatchObject({ status: 404 });
        await expect(own.models.generateContent({ model, contents })).rejects.toMatchObject({ status: 404 });
        await eventually(() => listed(own), []);
      },
    );

    it('are uploaded in several parts, and kept byte for byte', async () => {
      const own = await newClient();
      const bytes = randomBytes(17 * 1024 * 1024) as Buffer<ArrayBuffer>;
      const made = await own.files.upload({ file: blob(bytes) });
      const hash = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('base64');
      expect(made).toMatchObject({ sizeBytes: String(bytes.length), sha256Hash: hash });
    });

    it('are listed in pages, the newest first', async () => {
      const own = await newClient();
      const names: (string | undefined)[] = [];
      for (let at = 0; at < 5; at++) names.unshift((await own.files.upload({ file: blob() })).name);
      await eventually(() => listed(own, 2), names);
      const first = await tell(own, 'GET', '/v1beta/files?pageSize=2');
      expect(first.body).toMatchObject({
        files: [{ name: names[0] }, {}],
        nextPageToken: expect.any(String),
      });
      expect(await tell(own, 'GET', '/v1beta/files?pageSize=x')).toMatchObject({ status: 400 });
    });

    it('belong to the call that began their upload, which is free', async () => {
      const own = await newClient();
      const begun = await start(own.key);
      const done = await send(addressOf(begun), 'upload, finalize', 0, '0123456789', own.key);
      expect(done.headers.get('x-goog-upload-status')).toBe('final');
      const { name } = record(record(await done.json()).file);
      const id = String(name).split('/').at(-1);
      await eventually(async () => {
        const { rows } = await stack.db.pool.query('SELECT call_id, credential FROM resource WHERE id = $1', [
          id,
        ]);
        return rows;
      }, [{ call_id: begun.headers.get('x-request-id'), credential: 'default' }]);
      const call = await stack.call(done.headers.get('x-request-id') ?? '');
      expect(call).toMatchObject({ operation: 'content.files.upload', endReason: 'completed', cost: '0' });
    });

    describe('uploads (contract: batches/upload-address)', () => {
      it('get an address of the gateway, by which parts are sent without a key', async () => {
        const own = await newClient();
        const begun = await start(own.key);
        expect(begun.headers.get('x-goog-upload-status')).toBe('active');
        const address = addressOf(begun);
        expect(address.startsWith(`${stack.url}/`)).toBe(true);
        expect(address).toMatch(/\/files\?upload_id=s1\.[\w-]+$/);
        expect(address).not.toContain(own.key);
        expect((await send(address, 'upload', 0, '01234')).headers.get('x-goog-upload-status')).toBe(
          'active',
        );
        const query = await send(address, 'query', 0, '');
        expect(query.headers.get('x-goog-upload-size-received')).toBe('5');
        const done = await send(address, 'upload, finalize', 5, '56789');
        expect(record(await done.json())).toMatchObject({ file: { sizeBytes: '10' } });
      });

      it('have the scheme and the host that the first proxy was asked for', async () => {
        const own = await newClient();
        const proxied = { 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'ai.example, inner' };
        expect(addressOf(await start(own.key, proxied))).toMatch(/^https:\/\/ai\.example\/\S*upload/);
      });

      it('cannot be continued by another workspace, nor with an address that was altered', async () => {
        const [own, other] = [await newClient(), await newClient()];
        const address = addressOf(await start(own.key));
        expect(await codeOf(await send(address, 'upload', 0, '01234', other.key))).toEqual([
          404,
          'not_found',
        ]);
        const altered = address.replace(/.{8}$/, 'AAAAAAAA');
        expect(await codeOf(await send(altered, 'upload', 0, '01234', own.key))).toEqual([404, 'not_found']);
        expect((await send(altered, 'upload', 0, '01234')).status).toBe(401);
        const done = await send(address, 'upload, finalize', 0, '0123456789', own.key);
        expect(done.status).toBe(200);
      });

      it.each([
        ['a part that exceeds the announced size', 'upload', 5, '0123456789'],
        ['an offset behind the announced size', 'upload', 11, ''],
        ['an unknown command', 'append', 0, '01'],
        ['a command that begins with another', 'query, cancel', 0, ''],
      ])('are refused by our own checks: %s', async (_, command, offset, body) => {
        const own = await newClient();
        const address = addressOf(await start(own.key));
        expect(await codeOf(await send(address, command, offset, body))).toEqual([400, 'invalid_body']);
      });

      it.each([
        ['no size', { 'x-goog-upload-header-content-length': '' }, {}],
        ['a size of 0', { 'x-goog-upload-header-content-length': '0' }, {}],
        ['another protocol', { 'x-goog-upload-protocol': 'multipart' }, {}],
        ['a name of its own', {}, { name: 'files/of-my-own' }],
      ])('do not begin with %s', async (_, headers, body) => {
        const own = await newClient();
        expect(await codeOf(await start(own.key, headers, body))).toEqual([400, 'invalid_body']);
      });

      it('leave their room if the provider does not begin them', async () => {
        const own = await newClient();
        const begun = await start(own.key, {}, { displayName: 'sandbox-fault~status-500' });
        expect(begun.status).toBe(500);
        const id = begun.headers.get('x-request-id');
        const roomOf = async () =>
          (await stack.db.pool.query('SELECT 1 FROM file_room WHERE call_id = $1', [id])).rowCount;
        await eventually(roomOf, 0);
      });

      it('go on after a part that the provider failed to take', async () => {
        const own = await newClient();
        const displayName = 'sandbox-echo?post=fault~status-500';
        const address = addressOf(await start(own.key, {}, { displayName }));
        expect((await send(address, 'upload', 0, '01234')).status).toBe(500);
        expect((await send(address, 'query', 0, '')).headers.get('x-goog-upload-size-received')).toBe('0');
        expect((await send(address, 'upload', 0, '01234')).status).toBe(500);
      });

      it('that are given up leave their room, and the provider takes no further part', async () => {
        const own = await newClient();
        const begun = await start(own.key);
        const roomOf = async () => {
          const id = begun.headers.get('x-request-id');
          const { rows } = await stack.db.pool.query('SELECT bytes::int FROM file_room WHERE call_id = $1', [
            id,
          ]);
          return rows;
        };
        expect(await roomOf()).toEqual([{ bytes: 10 }]);
        expect((await send(addressOf(begun), 'cancel', 0, '')).status).toBe(200);
        await eventually(roomOf, []);
        expect((await send(addressOf(begun), 'upload', 0, '0')).status).toBe(404);
      });
    });
  },
);
