import { describe, expect, it } from 'vitest';
import type { Resource } from '#lib/core/facts/resource';
import { chat } from '#lib/core/families/chat';
import { familyOf, operations } from '#lib/core/families/index';
import { extendCall } from '#lib/gateway/flow/call/call';
import { createRecorder } from '#lib/gateway/flow/relay/recorder';
import { unconfiguredRuntime } from '#lib/gateway/flow/unconfigured';
import { calledBy } from '#tests/unit/families/make';
import { answeredCall } from '#tests/unit/gateway/make-call';
import { createMeter } from '#tests/unit/metering/make';
import { askOf, modelOf, offerAt } from '#tests/unit/routing/make';

/** What is kept of a provider's answer to an update of the completion "own". */
async function keptOf(answer: object): Promise<readonly Resource[]> {
  const operation = operations.find(({ name }) => name === 'chat.update');
  if (!operation || familyOf(operation.family) !== chat) throw new Error('chat has an update');
  const kept: Resource[] = [];
  const runtime = {
    ...unconfiguredRuntime(),
    resources: {
      find: () => null,
      keep: async (_callId: string, resources: readonly Resource[]) => void kept.push(...resources),
      unclaimed: async () => [],
      list: async () => ({ views: [], more: false }),
      forget: async () => {},
    },
  };
  const { shows: _, ...plain } = askOf();
  const ask = { ...plain, operation };
  const offer = offerAt('keeper', 'm');
  if (!offer.price) throw new Error('the offer has a price');
  const call = answeredCall(chat, ask, {
    model: modelOf('m', [offer]),
    offer,
    family: 'chat',
    address: new URL('https://keeper.test/v1'),
    ...calledBy(),
    price: offer.price,
    injectBudget: null,
  });
  const resource: Resource = {
    kind: 'completion',
    id: 'own',
    workspaceId: call.snapshot.workspace.id,
    providerId: 'keeper',
    credential: 'default',
    family: 'chat',
    modelId: 'm',
    upstreamModel: 'm',
    callId: 'made-by',
    job: false,
    tokens: 0,
    createdAtMs: 7,
  };
  const meter = createMeter(chat, ask, { contentType: 'application/json' });
  meter.push(Buffer.from(JSON.stringify(answer)));
  meter.end();
  await createRecorder(runtime, extendCall(call, { resource }), meter)?.keepNew();
  return kept;
}

describe('the answer to an update of what is stored (contract: jobs/resource-list)', () => {
  it('changes what lists show of it, and nothing of who made it', async () => {
    const [kept, ...others] = await keptOf({ id: 'own', created: 1, model: 'm', metadata: { a: 'b' } });
    expect(others).toEqual([]);
    expect(kept).toMatchObject({
      id: 'own',
      callId: 'made-by',
      createdAtMs: 7,
      view: { metadata: { a: 'b' } },
    });
    expect(kept?.viewedAtMs).toBeGreaterThan(0);
  });

  it('does not give the workspace another thing that it names', async () => {
    expect(await keptOf({ id: 'of-another', created: 1, model: 'm', metadata: {} })).toEqual([]);
  });

  it('that is an error changes nothing', async () => {
    expect(await keptOf({ id: 'own', error: { message: 'no' } })).toEqual([]);
  });
});
