import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spooledUploads } from '#tests/gateway/images/spooled';
import { askChat, bearer, codeOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { type OwnStack, startStack } from '#tests/support/stack';
import { requestText, talk } from '#tests/support/wire';
import { formOf } from '#tests/unit/multipart/make';

describe('a disk that has no room for an upload', () => {
  let stack: OwnStack;
  beforeAll(async () => {
    stack = await startStack({ fileKiB: 2_048 });
  });
  afterAll(() => stack.close());

  it('refuses it with 500 local_quota_not_configured, and keeps nothing of it', async () => {
    const { key } = await stack.key((await stack.workspace()).slug);
    const parts = [
      { name: 'image', filename: 'a.png', value: Buffer.alloc(4 * 1024 * 1024) },
      { name: 'model', value: 'sandbox/picture' },
    ];
    const headers = { ...bearer(key), 'Content-Type': 'multipart/form-data; boundary=edge' };
    const text = requestText('POST', '/v1/images/edits', headers, formOf('edge', parts));
    const [answer] = (await talk(stack.url, text)).answers;
    expect(answer?.status).toBe(500);
    expect(answer && codeOf(answer)).toBe('local_quota_not_configured');
    await eventually(() => spooledUploads(stack.dataDir), []);
    expect((await askChat(stack.url, key, {})).answer.status).toBe(200);
  });
});
