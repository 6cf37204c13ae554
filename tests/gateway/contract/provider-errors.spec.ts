import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askAs } from '#tests/gateway/contract/speaker';
import { speakers } from '#tests/gateway/contract/speakers/index';
import { unrepeated } from '#tests/support/attempts';
import { closeBalanced } from '#tests/support/books';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

const server = 'The server had an error while processing your request.';
const nothing = { providerCode: null, providerMessage: null };

describe('what a provider said of its error (contract: call-log/provider-error)', () => {
  let stack: Stack;
  let key: string;
  beforeAll(async () => {
    stack = await joinStack();
    const { slug } = await stack.workspace({ credit: '1000', rpm: null, tpm: null, concurrency: null });
    key = (await stack.key(slug)).key;
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  describe.concurrent.each(speakers)('$name', (speaker) => {
    it.each([
      ['fault/status-400', 'The simulated provider refuses this request.'],
      ['fault/status-401', 'Incorrect API key provided: ….'],
      ['fault/status-429', 'Rate limit reached for requests.'],
      ['fault/status-500', server],
      // Of one answer the attempt has failed; of another the stream.
      ['fault/error-body', expect.any(String)],
      ...(speaker.streamed
        ? [['fault/error-event@0', server] as const, ['fault/error-event@2', server] as const]
        : []),
    ] as const)('%s stands in its attempt', async (directive, message) => {
      const asked = await askAs(speaker, stack.url, key, { directive });
      const attempts = unrepeated(await stack.call(asked.id));
      expect(attempts).toMatchObject([
        { providerCode: expect.stringMatching(/^[\w.]+$/), providerMessage: message },
      ]);
    });

    it('is nothing where it answered, or said nothing', async () => {
      for (const directive of [undefined, 'fault/garbage']) {
        const asked = await askAs(speaker, stack.url, key, directive ? { directive } : {});
        expect(unrepeated(await stack.call(asked.id))).toMatchObject([nothing]);
      }
    });
  });
});
