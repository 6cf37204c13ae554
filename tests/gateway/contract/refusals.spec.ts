import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '#lib/core/errors';
import type { Operation } from '#lib/core/families/family';
import { operations } from '#lib/core/families/index';
import { makeKey } from '#lib/platform/secrets';
import { closeBalanced } from '#tests/support/books';
import { ask, bearer } from '#tests/support/chat-call';
import { expectRefusal, expectRefusedRow } from '#tests/support/refusals';
import { joinStack } from '#tests/support/shared/join';
import { spokenValue, uploadStart } from '#tests/support/spoken';
import type { Stack } from '#tests/support/stack';
import { headerOf, type Wire } from '#tests/support/wire';
import { formOf } from '#tests/unit/multipart/make';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const model = 'sandbox/echo';

/** The operation's paths, one a prefix, with a model that exists and ids that nobody has. */
function targetsOf({ path, prefixes }: Operation, slug = model): string[] {
  const filled = path.replace(/\{model\+?\}/, slug).replace(/\{\w+\+?\}/g, 'nobody-has-this');
  return prefixes.map((prefix) => `/${prefix}/${filled}`);
}

/** The same path as clients may escape it. */
function spellingsOf(target: string): string[] {
  const colon = target.replace(/:/g, '%3A');
  const slash = target.replace(model, encodeURIComponent(model));
  // As the ai SDK writes a verb on a slug with a slash.
  const short = target.includes(':') ? target.replace(`models/${model}:`, `${model}:`) : target;
  return [...new Set([target, short, colon, colon.replace('%3A', '%3a'), slash, slash.replace(/:/g, '%3A')])];
}

/** Methods that some operation serves on this path. */
function servedOn(path: string, prefix: string | undefined): string[] {
  const same = operations.filter(
    (one) => one.path === path && one.prefixes.some((other) => other === prefix),
  );
  return [...new Set(same.map(({ method }) => method))];
}

/** Sessions have their own tests. */
const called = operations.filter(({ socket }) => socket !== true);
const named = called.map((operation) => ({
  name: `${operation.name} (${operation.prefixes[0]})`,
  operation,
}));
const keeping = named.filter(({ operation }) => operation.resource);
// A part of an upload may be any bytes.
const reading = named.filter(
  ({ operation }) => operation.fields && !operation.resource && operation.resumable !== 'part',
);
const uploading = named.filter(({ operation }) => operation.multipart);
const inPath = named.filter(({ operation }) => operation.fields && operation.path.includes('{model+}'));

/** A form with a recording for a model that is not there. */
const unknownModel = formOf('b', [
  { name: 'model', value: 'no/such/model' },
  { name: 'file', filename: 'a.wav', value: 'sound' },
]).toString();

describe('every operation refuses in the one documented shape (contract: request/error-shape, request/error-message)', () => {
  let stack: Stack;
  let key: string;
  beforeAll(async () => {
    stack = await joinStack();
    const { slug } = await stack.workspace({ rpm: null, tpm: null, concurrency: null });
    key = (await stack.key(slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  const send = (
    { method, spokenWith, resumable }: Operation,
    target: string,
    headers: Record<string, string>,
    body = '{}',
  ) => {
    const spoken = spokenWith === undefined ? {} : { [spokenWith]: spokenValue(spokenWith) };
    const begun = resumable === 'start' ? uploadStart : {};
    const asked = method === 'POST' || method === 'PATCH' ? body : '';
    return ask(stack.url, method, target, { ...spoken, ...begun, ...headers }, asked);
  };

  /** Refused by the operation that was meant: its row says so. */
  async function expectLogged(operation: Operation, answer: Wire, code: ErrorCode): Promise<void> {
    const id = expectRefusal(answer, code, key);
    await expectRefusedRow(stack, id, code);
    expect(await stack.call(id)).toMatchObject({ operation: operation.name, family: operation.family });
  }

  describe.concurrent.each(named)('$name', ({ operation }) => {
    it('without a key', async () => {
      for (const target of targetsOf(operation)) {
        expectRefusal(await send(operation, target, {}), 'missing_platform_authorization');
      }
    });

    it('with a key that is none, by any header', async () => {
      const [target = ''] = targetsOf(operation);
      const unknown = makeKey();
      for (const headers of [
        bearer('mg_malformed'),
        bearer(unknown),
        { authorization: `Basic ${unknown}` },
        { 'x-api-key': unknown },
        { 'x-goog-api-key': unknown },
        { 'api-key': unknown },
      ]) {
        expectRefusal(await send(operation, target, headers), 'invalid_api_key', unknown);
      }
      const asked = `${target}${target.includes('?') ? '&' : '?'}key=${unknown}`;
      expectRefusal(await send(operation, asked, {}), 'invalid_api_key', unknown);
    });

    it('with a method that its path does not have', async () => {
      for (const [at, target] of targetsOf(operation).entries()) {
        const served = servedOn(operation.path, operation.prefixes[at]);
        for (const method of methods.filter((one) => !served.includes(one))) {
          const answer = await ask(stack.url, method, target, bearer(key));
          if (method === 'HEAD') expect(answer.status).toBe(405);
          else expectRefusal(answer, 'method_not_allowed', key);
          expect(headerOf(answer, 'allow')?.split(', ').sort(), method).toEqual([...served].sort());
        }
      }
    });
  });

  describe.concurrent.each(keeping)('$name', ({ operation }) => {
    it('for an id that is not of this workspace, however the path is escaped', async () => {
      const check = async (target: string) =>
        expectLogged(operation, await send(operation, target, bearer(key)), 'not_found');
      await Promise.all(targetsOf(operation).flatMap(spellingsOf).map(check));
    });
  });

  describe.concurrent.each(reading)('$name', ({ operation }) => {
    it.each(['{', '[]', '"text"', '', '{"model":', '{"a":1}{}', '{"a":"\ud800"}x'])(
      'for a body that cannot be read: %j',
      async (body) => {
        const [target = ''] = targetsOf(operation);
        await expectLogged(operation, await send(operation, target, bearer(key), body), 'invalid_body');
      },
    );

    it('for a compressed body', async () => {
      const [target = ''] = targetsOf(operation);
      const headers = { ...bearer(key), 'content-encoding': 'gzip' };
      await expectLogged(operation, await send(operation, target, headers), 'invalid_body');
    });

    it('on each of its paths, however they are escaped', async () => {
      const check = async (target: string) =>
        expectLogged(operation, await send(operation, target, bearer(key), '{'), 'invalid_body');
      await Promise.all(targetsOf(operation).flatMap(spellingsOf).map(check));
    });

    // What is only stored names no model, a batch names its file, or its requests name theirs.
    it.skipIf(operation.steps === 'stored' || operation.runsFile || operation.runsRequests)(
      'for a model that is not there',
      async () => {
        const [target = ''] = targetsOf(operation, 'no/such/model');
        const isForm = operation.multipart === 'only';
        const type = isForm ? 'multipart/form-data; boundary=b' : 'application/json';
        const body = isForm ? unknownModel : '{"model":"no/such/model","input":"a"}';
        const answer = await send(operation, target, { ...bearer(key), 'content-type': type }, body);
        await expectLogged(operation, answer, 'model_not_allowed');
      },
    );
  });

  describe.concurrent.each(uploading)('$name', ({ operation }) => {
    const part = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nsandbox/echo';
    it.each([
      ['multipart/form-data', `${part}\r\n--b--\r\n`],
      ['multipart/form-data; boundary=b', ''],
      ['multipart/form-data; boundary=b', 'no part at all'],
      ['multipart/form-data; boundary=b', part],
      ['multipart/form-data; boundary=b', `${part}\r\n`],
      ['multipart/form-data; boundary=b', `${part}\r\n${part}\r\n--b--\r\n`],
      ['multipart/form-data; boundary=b', '--b\r\nno-name: at-all\r\n\r\nx\r\n--b--\r\n'],
    ])('for a form that cannot be read: %s, %j', async (type, body) => {
      const [target = ''] = targetsOf(operation);
      const headers = { ...bearer(key), 'content-type': type };
      await expectLogged(operation, await send(operation, target, headers, body), 'invalid_body');
    });
  });

  it.each(inPath)('$name keeps the verb apart from a slug with a colon', async ({ operation }) => {
    const [target = ''] = targetsOf(operation, 'vendor/name:free');
    const answer = await send(operation, target, bearer(key));
    await expectLogged(operation, answer, 'model_not_allowed');
    const call = await stack.call(headerOf(answer, 'x-request-id') ?? '');
    expect(call.requestedModel).toBe('vendor/name:free');
  });

  it.each(['/v1', '/v1/', '/v1beta', '/v1/nothing', '/v1/videos/a/b/c', '/v1/responses/a/b', '/v1/files/a'])(
    'what is no operation: %s',
    async (target) => {
      for (const method of methods.filter((one) => one !== 'HEAD')) {
        expectRefusal(await ask(stack.url, method, target, bearer(key)), 'not_found', key);
      }
    },
  );
});
