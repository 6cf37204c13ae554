import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Asker,
  allAre,
  endsOf,
  make,
  outcomesOf,
  type Possessions,
  readsOf,
  respond,
  tell,
} from '#tests/gateway/resources/possessions';
import { closeBalanced } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { type Second, startSecond } from '#tests/support/fleet/second';
import { type OwnStack, startStack } from '#tests/support/stack';
import { record } from '#tools/sandbox/content/tool-call';

const missing = '404 not_found';

describe('what a provider keeps for a workspace (contract: jobs/ownership, jobs/foreign-ids)', () => {
  let stack: OwnStack;
  let second: Second;
  let owner: Asker;
  let stranger: Asker;
  let kept: Possessions;
  beforeAll(async () => {
    stack = await startStack();
    second = await startSecond(stack);
    owner = await newcomer();
    stranger = await newcomer();
    kept = await make(owner);
  });
  afterAll(async () => {
    await second.close();
    await closeBalanced(stack);
  });

  async function newcomer(): Promise<Asker> {
    const { slug } = await stack.workspace({ rpm: 10_000, concurrency: null });
    return { url: stack.url, key: (await stack.key(slug)).key };
  }
  const elsewhere = (asker: Asker): Asker => ({ ...asker, url: second.url });
  const asksFor = async (id: string) => (await stack.sandbox.seen(id)).length;

  it('is its own in every operation, in this process and in another', async () => {
    const uses = readsOf(kept);
    expect(await outcomesOf(owner, uses)).toEqual(allAre(uses, '200'));
    expect(await outcomesOf(elsewhere(owner), uses)).toEqual(allAre(uses, '200'));
  });

  it('is not found by others in any operation, and no provider is asked', async () => {
    const uses = [...readsOf(kept), ...endsOf(kept)];
    const ids = Object.values(kept).map((name) => name.split('/').at(-1) ?? '');
    const before = await Promise.all(ids.map(asksFor));
    expect(await outcomesOf(stranger, uses)).toEqual(allAre(uses, missing));
    expect(await outcomesOf(elsewhere(stranger), uses)).toEqual(allAre(uses, missing));
    expect(await Promise.all(ids.map(asksFor))).toEqual(before);
  });

  it('is not found if no call of the workspace made it: a context cache of the operator’s account', async () => {
    const cached_content = 'cachedContents/of-the-operator';
    const chat = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'Go on' }] };
    const uses = [
      { ...chat, google: { cached_content } },
      { ...chat, extra_body: { google: { cached_content } } },
    ].map((body) => ['POST', '/v1/chat/completions', body] as const);
    const before = await stack.sandbox.lines({});
    expect(await outcomesOf(owner, uses)).toEqual(allAre(uses, missing));
    expect(await stack.sandbox.lines({})).toHaveLength(before.length);
  });

  it('is another process’s too from the moment at which it was shown', async () => {
    for (let times = 0; times < 5; times++) {
      const { body } = await respond(owner);
      await eventually(
        async () => (await respond(elsewhere(owner), { previous_response_id: body.id })).status,
        200,
      );
    }
  });

  it('does not become another’s who sends its id and has it listed', async () => {
    const claimed = [
      { type: 'message', id: kept.item, role: 'user', content: 'Mine' },
      { type: 'message', role: 'user', content: 'Go on' },
    ];
    const { status, body } = await respond(stranger, { input: claimed });
    expect(status).toBe(200);
    const { data } = (await tell(stranger, 'GET', `/v1/responses/${body.id}/input_items`)).body;
    const ids = [data].flat().map((one) => String(record(one).id));
    expect(ids).toContain(kept.item);
    const reference = (id: string) => ({ input: [{ type: 'item_reference', id }] });
    expect((await respond(stranger, reference(kept.item))).status).toBe(404);
    expect((await respond(owner, reference(kept.item))).status).toBe(200);
    // What the provider itself named can be named again.
    const own = ids.filter((id) => id !== kept.item);
    expect(own).toHaveLength(1);
    expect((await respond(stranger, reference(own[0] ?? ''))).status).toBe(200);
  });

  it('cannot be reached through a container that no answer to this workspace has shown', async () => {
    const asked = { model: 'sandbox/echo', max_tokens: 9, messages: [{ role: 'user', content: 'Go on' }] };
    for (const container of ['container_1', { id: 'container_1' }]) {
      const { status, code } = await tell(stranger, 'POST', '/v1/messages', { ...asked, container });
      expect([status, code]).toEqual([404, 'not_found']);
    }
    const ran = { type: 'code_interpreter_call', id: 'ci_1', code: '1', container_id: 'cntr_1' };
    const tools = [{ type: 'code_interpreter', container: { type: 'auto' } }];
    expect(await respond(stranger, { tools, input: [ran] })).toMatchObject({ status: 404 });
  });

  it.each([false, true])('cannot be repeated if another workspace got it (stream: %s)', async (stream) => {
    const question = { role: 'user', content: 'Say hello' };
    const spoken = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } };
    const asked = { model: 'sandbox/echo', stream, ...spoken };
    const answer = await fetch(`${owner.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}` },
      body: JSON.stringify({ ...asked, messages: [question] }),
    });
    const id = /"id":"(audio_\w+)"/.exec(await answer.text())?.[1];
    const repeated = { ...asked, messages: [question, { role: 'assistant', audio: { id } }, question] };
    const told = await tell(stranger, 'POST', '/v1/chat/completions', repeated);
    expect([told.status, told.code]).toEqual([404, 'not_found']);
    expect(await tell(owner, 'POST', '/v1/chat/completions', repeated)).toMatchObject({ status: 200 });
    // Another process reads it from the database, which gets it with the call.
    await eventually(
      async () => (await tell(elsewhere(owner), 'POST', '/v1/chat/completions', repeated)).status,
      200,
    );
  });

  it.each([
    ['/v1/videos', 'video'],
    ['/v1/chat/completions', 'completion'],
  ] as const)('is shown in no list of others: %s', async (path, kind) => {
    await eventually(async () => [(await tell(owner, 'GET', path)).body.data].flat().length > 0, true);
    expect((await tell(owner, 'GET', path)).body.data).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: kept[kind] })]),
    );
    expect((await tell(stranger, 'GET', path)).body).toEqual({
      object: 'list',
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    });
  });

  it('lists only as far as it was asked for in a way that can be understood', async () => {
    for (const path of ['/v1/videos', '/v1/chat/completions']) {
      for (const query of ['limit=101', 'limit=ten', 'order=random']) {
        const told = await tell(owner, 'GET', `${path}?${query}`);
        expect([path, query, told.status, told.code]).toEqual([path, query, 400, 'invalid_body']);
      }
    }
  });

  it('is gone everywhere within 2 s once it is deleted', async () => {
    const mine = await make(owner);
    const { response, completion, conversation, video, upload, contentFile, cache } = mine;
    const named = { response, completion, conversation, video, upload, contentFile, cache };
    const gone = { ...kept, ...named };
    const uses = readsOf(gone).filter(([, path, body]) =>
      Object.values(named).some((id) => `${path}${JSON.stringify(body)}`.includes(id)),
    );
    expect(uses).toHaveLength(32);
    await eventually(() => outcomesOf(elsewhere(owner), uses), allAre(uses, '200'));
    for (const path of [
      `/v1/responses/${mine.response}`,
      `/v1/chat/completions/${mine.completion}`,
      `/v1/conversations/${mine.conversation}`,
      `/v1/videos/${mine.video}`,
      `/v1/files/${mine.upload}`,
    ]) {
      expect(await tell(owner, 'DELETE', path)).toMatchObject({ status: 200, body: { deleted: true } });
    }
    for (const path of [`/v1beta/files/${contentFile}`, `/v1beta/${cache}`]) {
      expect(await tell(owner, 'DELETE', path)).toMatchObject({ status: 200, body: {} });
    }
    expect(await outcomesOf(owner, uses)).toEqual(allAre(uses, missing));
    await eventually(() => outcomesOf(elsewhere(owner), uses), allAre(uses, missing));
    expect(await outcomesOf(owner, endsOf(gone))).toEqual(allAre(endsOf(gone), missing));
  });

  it('is found again by a process that is killed right after it was shown', async () => {
    const fresh = await newcomer();
    const mine = await make(fresh);
    const { body } = await respond(fresh, { background: true });
    const labelled = { metadata: { killed: 'right after' } };
    await tell(fresh, 'POST', `/v1/chat/completions/${mine.completion}`, labelled);
    await stack.kill('SIGKILL');
    await stack.start();
    const uses = readsOf({ ...mine, response: String(body.id) });
    const list = '/v1/chat/completions?metadata[killed]=right%20after';
    await eventually(async () => (await tell(fresh, 'GET', list)).body.first_id, mine.completion);
    const outcomes = await outcomesOf(fresh, uses.slice(0, 2));
    expect(outcomes).toEqual(allAre(uses.slice(0, 2), '200'));
    expect(await outcomesOf(fresh, readsOf(mine))).toEqual(allAre(readsOf(mine), '200'));
    expect(await outcomesOf(stranger, readsOf(mine))).toEqual(allAre(readsOf(mine), missing));
  });
});
