import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asker, make, type Possessions, respond, tell } from '#tests/gateway/resources/possessions';
import { promptOf } from '#tests/gateway/videos/stage';
import { closeBalanced } from '#tests/support/books';
import { joinStack } from '#tests/support/shared/join';
import type { Stack } from '#tests/support/stack';

describe('the order of checks on what a provider keeps', () => {
  let stack: Stack;
  let workspace: string;
  let owner: Asker;
  let kept: Possessions;
  beforeAll(async () => {
    stack = await joinStack();
    workspace = (await stack.workspace({ rpm: 10_000 })).slug;
    owner = await keyed();
    kept = await make(owner);
  });
  afterAll(async () => {
    await closeBalanced(stack);
  });

  async function keyed(settings: Parameters<Stack['key']>[1] = {}): Promise<Asker> {
    return { url: stack.url, key: (await stack.key(workspace, settings)).key };
  }
  const shortOf = ({ status, code }: { status: number; code: unknown }) => [status, code];
  const remix = (asker: Asker, id: string, body: object = { prompt: promptOf() }) =>
    tell(asker, 'POST', `/v1/videos/${id}/remix`, body);

  it('puts a path’s own resource behind the key and before limits and body', async () => {
    const limited = await keyed({ rpm: 1 });
    expect((await tell(limited, 'GET', `/v1/videos/${kept.video}`)).status).toBe(200);
    expect(shortOf(await tell(limited, 'GET', `/v1/videos/${kept.video}`))).toEqual([
      429,
      'api_key_rpm_exceeded',
    ]);
    expect(shortOf(await tell(limited, 'GET', '/v1/videos/video_none'))).toEqual([404, 'not_found']);
    const unreadable = await fetch(`${stack.url}/v1/videos/video_none/remix`, {
      method: 'POST',
      headers: { authorization: `Bearer ${limited.key}` },
      body: '{"prompt":',
    });
    expect(unreadable.status).toBe(404);
    expect(shortOf(await tell({ ...owner, key: 'mg_none' }, 'GET', '/v1/videos/video_none'))).toEqual([
      401,
      'invalid_api_key',
    ]);
  });

  it('counts a refused look-up nowhere', async () => {
    const limited = await keyed({ rpm: 1 });
    for (let times = 0; times < 3; times++) await tell(limited, 'GET', '/v1/responses/resp_none');
    expect((await tell(limited, 'GET', `/v1/responses/${kept.response}`)).status).toBe(200);
  });

  it('asks for neither model nor budget nor funds if something is only read', async () => {
    const bare = await keyed({ models: ['sandbox/reasoner'], maxOutputTokens: 1, dailyCap: '0.000001' });
    for (const path of [`/v1/responses/${kept.response}`, `/v1/videos/${kept.video}/content`]) {
      const told = await tell(bare, 'GET', path);
      expect(told.status).toBe(200);
      expect(await stack.call(told.callId)).toMatchObject({ cost: '0', status: 200, provider: 'sandbox' });
    }
  });

  it('asks for all of them if a remix makes something new', async () => {
    const elsewhere = await keyed({ models: ['sandbox/reasoner'] });
    expect(shortOf(await remix(elsewhere, kept.video))).toEqual([400, 'model_not_allowed']);
    expect(shortOf(await remix(elsewhere, 'video_none'))).toEqual([404, 'not_found']);
    const poor = await stack.workspace({ credit: '0' });
    const theirs = { url: stack.url, key: (await stack.key(poor.slug)).key };
    expect(shortOf(await remix(theirs, kept.video))).toEqual([404, 'not_found']);
  });

  it('checks what a body continues after model and budget and before funds', async () => {
    const bound = await keyed({ models: ['sandbox/echo'], maxOutputTokens: 100 });
    const unknown = { previous_response_id: 'resp_none' };
    const outcomes = [
      await respond(bound, { ...unknown, model: 'sandbox/reasoner' }),
      await respond(bound, { ...unknown, max_output_tokens: 101 }),
      await respond(bound, unknown),
    ];
    expect(outcomes.map(shortOf)).toEqual([
      [400, 'model_not_allowed'],
      [400, 'max_output_tokens_exceeded'],
      [404, 'not_found'],
    ]);
    const poor = await stack.workspace({ credit: '0' });
    const theirs = { url: stack.url, key: (await stack.key(poor.slug)).key };
    expect(shortOf(await respond(theirs, unknown))).toEqual([404, 'not_found']);
    expect(shortOf(await respond(theirs))).toEqual([402, 'insufficient_balance']);
  });

  it('writes a row for each refusal, under its operation', async () => {
    const { callId } = await tell(owner, 'DELETE', '/v1/responses/resp_none');
    expect(await stack.call(callId)).toMatchObject({
      operation: 'responses.delete',
      status: 404,
      errorCode: 'not_found',
      endReason: 'refused',
      attempts: [],
    });
  });
});
