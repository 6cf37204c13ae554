import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storedAttempts } from '#lib/gateway/settlement/pure/record/stored-attempts';
import { type CloudStage, metricsToken, openStage } from '#tests/gateway/clouds/stage';
import { cloudKeys } from '#tests/support/clouds/clouds';
import { eventually } from '#tests/support/eventually';
import { type Second, startSecond } from '#tests/support/fleet/second';

/** A machine of a kind: what its environment has, and who issues what it sends, by model. */
interface Machine {
  readonly env: Readonly<Record<string, string>>;
  readonly issuers: Readonly<Record<string, string>>;
}

let stage: CloudStage;
let machines: Readonly<Record<string, Machine>>;
let gateways: Record<string, Second> = {};

/** A gateway on each machine, which has no token yet. */
async function startAll(): Promise<void> {
  await Promise.all(Object.values(gateways).map((gateway) => gateway.close()));
  const started = Object.entries(machines).map(
    async ([name, { env }]) => [name, await startSecond(stage.stack, { env })] as const,
  );
  gateways = Object.fromEntries(await Promise.all(started));
}

beforeAll(async () => {
  stage = await openStage();
  const { url } = stage.clouds;
  const { identityHeader, containerToken } = cloudKeys.machine;
  const tokenFile = join(mkdtempSync(join(tmpdir(), 'container-')), 'token');
  writeFileSync(tokenFile, containerToken);
  const none = Object.fromEntries(Object.keys(stage.cluster).map((name) => [name, '']));
  machines = {
    'a virtual machine': {
      env: {
        ...none,
        GCE_METADATA_HOST: new URL(url).host,
        AZURE_POD_IDENTITY_AUTHORITY_HOST: url,
        AWS_EC2_METADATA_SERVICE_ENDPOINT: url,
      },
      issuers: {
        'cloud/azure-workload': 'azure instance token',
        'cloud/vertex-machine': 'google metadata token',
        'cloud/bedrock-machine': 'aws instance token',
        'cloud/bedrock-machine-role': 'sts',
      },
    },
    'a container of a cloud': {
      env: {
        ...none,
        IDENTITY_ENDPOINT: `${url}/azure-app/token`,
        IDENTITY_HEADER: identityHeader,
        AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/aws-container`,
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile,
      },
      issuers: { 'cloud/azure-workload': 'azure app token', 'cloud/bedrock-machine': 'aws container token' },
    },
    'a pod of a cluster': {
      env: {},
      issuers: {
        'cloud/azure-workload': 'entra token',
        'cloud/vertex-machine': 'google impersonation token',
        'cloud/vertex-workload': 'google token',
        'cloud/bedrock-machine': 'sts',
      },
    },
  };
  await startAll();
});
beforeEach(() => stage.clouds.set());
afterAll(async () => {
  await Promise.all(Object.values(gateways).map((gateway) => gateway.close()));
  await stage.close();
});

const messages = [{ role: 'user', content: 'hello' }];
const chat = (machine: string, model: string) =>
  stage.ask(
    '/v1/chat/completions',
    { model, messages },
    { 'x-translate': 'never' },
    gateways[machine]?.url ?? '',
  );
/** Every model on every machine. */
const each = () =>
  Object.entries(machines).flatMap(([machine, { issuers }]) =>
    Object.entries(issuers).map(([model, issuer]) => ({ machine, model, issuer })),
  );
/** How often tokens were given out. */
const given = (issuer: string) =>
  stage.clouds.seen.filter(
    ({ what, status, path }) => what === issuer && status === 200 && !path.includes('openid-configuration'),
  ).length;
const front = (model: string) => model.slice('cloud/'.length).split('-')[0] ?? '';

describe('the identity of the machine (contract: families/cloud-credentials)', () => {
  it('each kind of machine gets its token or keys once, from the server that its environment names', async () => {
    for (const { machine, model, issuer } of each()) {
      await stage.clouds.set();
      for (let at = 0; at < 3; at += 1) {
        const { status, text } = await chat(machine, model);
        expect([machine, model, status, text]).toEqual([machine, model, 200, text]);
      }
      expect([machine, model, given(issuer)]).toEqual([machine, model, 1]);
      const served = stage.clouds.seen.filter(({ what }) => what === front(model));
      expect(served.map(({ status }) => status)).toEqual([200, 200, 200]);
    }
  });

  it('a role that a virtual machine assumes is asked for with the keys of the machine', async () => {
    await startAll();
    await stage.clouds.set();
    expect((await chat('a virtual machine', 'cloud/bedrock-machine-role')).status).toBe(200);
    expect(stage.clouds.seen.map(({ what }) => what)).toEqual([
      'aws instance session',
      'aws instance',
      'aws instance token',
      'sts',
      'bedrock',
    ]);
  });

  it('tokens that end while calls run fail none, and the workload’s own tokens are read again', async () => {
    // Renewed seconds before their end, so that a busy machine is not too late.
    await stage.clouds.set({ tokenSeconds: 20 });
    await startAll();
    // The cluster replaces them long before they end; what was read at the start is then no longer accepted.
    stage.replaceTokens(-290);
    const statuses: string[] = [];
    const issuers = new Set(each().map(({ issuer }) => issuer));
    const renewed = () => [...issuers].every((issuer) => given(issuer) >= 2);
    const replaced = setInterval(() => stage.replaceTokens(-290), 2_000);
    await Promise.all(
      each().map(async ({ machine, model }) => {
        while (!renewed()) {
          const { status, text } = await chat(machine, model);
          statuses.push(status === 200 ? '200' : `${machine} ${model} ${text}`);
        }
      }),
    );
    clearInterval(replaced);
    stage.replaceTokens();
    expect(new Set(statuses)).toEqual(new Set(['200']));
    for (const issuer of issuers) expect([issuer, given(issuer) < 40]).toEqual([issuer, true]);
    const counts = [...issuers].map((issuer) => `${issuer} ${given(issuer)}`);
    process.stdout.write(`${statuses.length} calls; ${counts.join(', ')}\n`);
  });

  it('clocks that are four minutes off make no call fail', async () => {
    for (const aheadMs of [240_000, -240_000]) {
      await stage.clouds.set({ aheadMs });
      await startAll();
      for (const { machine, model } of each()) {
        const { status, text } = await chat(machine, model);
        expect([aheadMs, machine, model, status, text]).toEqual([aheadMs, machine, model, 200, text]);
      }
    }
  });

  it('an identity that is withdrawn is a clear error, and no log, error, row or span has a secret', async () => {
    await stage.clouds.set({ revoked: true });
    await startAll();
    const refused: { readonly id: string; readonly text: string }[] = [];
    for (const { machine, model } of each()) {
      const { status, text, id } = await chat(machine, model);
      expect([machine, model, status]).toEqual([machine, model, 502]);
      expect([machine, model, text]).toEqual([machine, model, expect.stringContaining('token_refused')]);
      refused.push({ id, text });
    }
    const calls = await Promise.all(refused.map(({ id }) => stage.stack.call(id)));
    for (const { attempts } of calls)
      expect(attempts[0]).toMatchObject({ error: 'token_refused', status: null });
    await eventually(() => refused.every(({ id }) => stage.collector.calls().has(id)), true);
    const logs = Object.values(gateways).map((gateway) => gateway.log());
    for (const log of logs) expect(log).toContain('a credential gets no token');
    const written = JSON.stringify([logs, refused, calls, stage.collector.deliveries]);
    const { identityHeader, containerToken } = cloudKeys.machine;
    const tokens = ['-token-', 'session-', 'role-secret-', 'imds-session-', 'eyJ'];
    for (const secret of [identityHeader, containerToken, cloudKeys.aws.secretAccessKey, ...tokens])
      expect(written).not.toContain(secret);
  });

  it('a role revoked under load fails no call: the next credential serves, and the operator is alerted', async () => {
    await stage.clouds.set({ tokenSeconds: 8 });
    await startAll();
    const pod = gateways['a pod of a cluster'];
    const models = ['azure', 'vertex', 'bedrock'].map((cloud) => `cloud/${cloud}-pool`);
    const answers: {
      readonly model: string;
      readonly status: number;
      readonly id: string;
      readonly text: string;
    }[] = [];
    const call = async (model: string) => {
      answers.push({ model, ...(await chat('a pod of a cluster', model)) });
    };
    await Promise.all(models.map(call));
    await stage.clouds.set({ tokenSeconds: 8, unfederated: true });
    // Tokens that were issued before serve until they end; their renewal is refused in the background.
    const untilMs = Date.now() + 20_000;
    await Promise.all(
      [...models, ...models].map(async (model) => {
        while (Date.now() < untilMs) await call(model);
      }),
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);

    const ids = answers.map(({ id }) => id);
    const read = () =>
      stage.stack.db.prisma.call.findMany({
        where: { id: { in: ids } },
        select: { requestedModel: true, attempts: true, status: true, provider: true, answeringModel: true },
      });
    await eventually(async () => (await read()).length, answers.length);
    const calls = (await read()).map(({ requestedModel, attempts, ...answered }) => ({
      model: requestedModel,
      attempts: storedAttempts(attempts, answered).map(({ credential, error }) => [credential, error]),
    }));
    const refused = ['default', 'token_refused'];
    const figures = models.map((model) => {
      const own = calls.filter((one) => one.model === model).map(({ attempts }) => JSON.stringify(attempts));
      const count = (...attempts: unknown[]) => own.filter((one) => one === JSON.stringify(attempts)).length;
      const [first, next] = [count(['default', null]), count(refused, ['spare', null])];
      const [spared, probed] = [
        count(['spare', null]),
        own.filter((one) => one.includes('token_refused')).length,
      ];
      expect([model, first > 0, next > 0, spared > 0]).toEqual([model, true, true, true]);
      // Set aside at once: of the calls that follow, only the probes ask for a token.
      expect([model, probed < 10]).toEqual([model, true]);
      return `${model}: ${own.length} calls, ${first} by the role, ${next} by the next one after a refusal`;
    });
    process.stdout.write(`${figures.join('; ')}\n`);

    const scraped = await fetch(`${pod?.url}/api/metrics`, {
      headers: { authorization: `Bearer ${metricsToken}` },
    });
    const metrics = await scraped.text();
    for (const cloud of ['azure', 'vertex', 'bedrock']) {
      const labels = (credential: string) => `{provider="${cloud}-pool",credential="${credential}"}`;
      expect(metrics).toContain(`gateway_credential_refused${labels('default')} 1`);
      expect(metrics).toContain(`gateway_credential_refused${labels('spare')} 0`);
      expect(pod?.log()).toMatch(
        new RegExp(`"provider":"${cloud}-pool","credential":"default".*a credential gets no token`),
      );
    }
    const written = JSON.stringify([pod?.log(), answers, calls, metrics, stage.collector.deliveries]);
    const { azure, bedrock } = cloudKeys;
    for (const secret of [azure, bedrock, 'PRIVATE KEY', '-token-', 'session-', 'role-secret-', 'eyJ'])
      expect(written).not.toContain(secret);
  });

  it('a machine whose server of identities starts late gets its tokens then', async () => {
    await eventually(
      async () => {
        const answers = await Promise.all(each().map(({ machine, model }) => chat(machine, model)));
        return new Set(answers.map(({ status }) => status));
      },
      new Set([200]),
    );
  });
});
