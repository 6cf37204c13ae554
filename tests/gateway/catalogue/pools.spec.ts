import { describe, expect, it } from 'vitest';
import { catalogueYaml } from '#lib/control/catalogue/export';
import { applyCatalogue } from '#lib/control/operations/catalogue/apply';
import { compareCatalogueOperation } from '#lib/control/operations/catalogue/compare';
import { exportCatalogueOperation } from '#lib/control/operations/catalogue/export';
import { setCredential } from '#lib/control/operations/provider/credential';
import { listProviders } from '#lib/control/operations/provider/list';
import { setProvider, withdrawProvider } from '#lib/control/operations/provider/set';
import { ask, type OperationRequest } from '#lib/control/operations/run';
import { loadCatalogue } from '#lib/gateway/snapshot/catalogue';
import type { Db } from '#lib/platform/data/db';
import { refusalOf } from '#tests/gateway/control/accounts/people';
import { controlHost, sealingKey } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const here = await openOwnDatabase();
const elsewhere = await openOwnDatabase();
const actor: OperationRequest['actor'] = { kind: 'operator', name: 'test', address: '192.0.2.7' };
const secrets = ['sk-first-0123456789', 'sk-second-0123456789', 'sk-third-0123456789'] as const;
const envSecret = (name: string) => (name === 'ACME_KEY_2' ? secrets[1] : undefined);

const hostOf = (db: Db) => ({
  ...controlHost(db),
  catalogue: () => loadCatalogue(db.pool, { envSecret, sealingKey }),
});
const apply = (db: Db, text: string, prune?: boolean) =>
  ask(hostOf(db), applyCatalogue, {
    actor,
    input: { files: [{ name: 'file.yaml', text }], ...(prune && { prune }) },
  });
const exported = async (db: Db) =>
  catalogueYaml(await ask(hostOf(db), exportCatalogueOperation, { actor, input: {} }));
const set = (db: Db, input: object) =>
  ask(hostOf(db), setCredential, { actor, input: { provider: 'acme', ...input } });
const poolAt = async (db: Db) => {
  const { data } = await ask(hostOf(db), listProviders, { actor, input: {} });
  return Object.fromEntries((data[0]?.credentials ?? []).map(({ name, ...one }) => [name, one]));
};
const newestRow = (db: Db) => db.prisma.audit.findFirstOrThrow({ orderBy: { id: 'desc' } });

const model = (id: string) =>
  `  - { id: ${id}, name: ${id}, contextTokens: 4000, maxOutputTokens: 400, input: [text], output: [text], offers: [{ provider: acme, upstreamModel: ${id}, families: [chat], price: { input: "2", output: "8" } }] }\n`;
const acme = (pool = '') =>
  `providers:\n  - { id: acme, name: Acme, families: { chat: https://acme.example/v1 }${pool} }\n`;
const models = `models:\n${model('acme/large')}${model('acme/gone')}`;

describe('a pool in catalogue files (contract: operations/catalogue-pool)', () => {
  it('is exported without a secret, and set up elsewhere with its weights, limits and models', async () => {
    await apply(here, acme() + models);
    await set(here, { value: secrets[0] });
    expect(await exported(here)).not.toContain('credentials:');
    await set(here, { name: 'team-2', env: 'ACME_KEY_2', weight: 3, rpm: 60, models: ['acme/large'] });
    await set(here, { name: 'spare', value: secrets[2], priority: 2, tpm: 9000, models: ['acme/gone'] });
    await set(here, { name: 'old', notNeeded: true, withdrawn: true });
    await ask(hostOf(here), withdrawProvider, { actor, input: { provider: 'acme', models: ['acme/gone'] } });
    await ask(hostOf(here), setProvider, { actor, input: { provider: 'acme', acceptNewModels: true } });
    const file = await exported(here);
    expect(file).toContain(`    credentials:
      - name: default
      - name: old
        credential: none
        withdrawn: true
      - name: spare
        tpm: 9000
        models:
          - acme/gone
        priority: 2
      - name: team-2
        credential:
          env: ACME_KEY_2
        rpm: 60
        models:
          - acme/large
        weight: 3
`);
    expect(file).toContain('acceptNewModels: true');
    expect(file).not.toMatch(/sk-|sealed/);
    expect((await apply(here, file)).changes).toEqual([]);

    const { changes } = await apply(elsewhere, file);
    expect(changes.slice(0, 5)).toEqual([
      '+ provider acme',
      '+ credential default of acme',
      '+ credential old of acme',
      '+ credential spare of acme',
      '+ credential team-2 of acme',
    ]);
    expect(await exported(elsewhere)).toBe(file);
    expect((await apply(elsewhere, file)).changes).toEqual([]);
    expect(await poolAt(elsewhere)).toMatchObject({
      default: { kind: 'none', usable: false },
      old: { kind: 'not needed', withdrawn: true },
      spare: { kind: 'none', usable: false, priority: 2, tpm: 9000, models: ['acme/gone'] },
      'team-2': { kind: 'variable', usable: true, weight: 3, rpm: 60, models: ['acme/large'] },
    });
  });

  it('takes the secrets that are entered again, with the settings of the file', async () => {
    await set(elsewhere, { value: secrets[0] });
    await set(elsewhere, { name: 'spare', value: secrets[2] });
    const provider = (await hostOf(elsewhere).catalogue()).providers.get('acme');
    expect(provider?.credentials.map(({ name, secret }) => [name, secret])).toEqual([
      ['default', secrets[0]],
      ['spare', secrets[2]],
      ['team-2', secrets[1]],
    ]);
    expect(await poolAt(elsewhere)).toMatchObject({ spare: { priority: 2, tpm: 9000, usable: true } });
    // A variable in a file replaces no secret that was entered.
    const file = (await exported(elsewhere)).replace(
      '- name: spare',
      '- name: spare\n        credential: { env: OTHER }',
    );
    expect((await apply(elsewhere, file)).changes).toEqual([]);
  });

  it('stays if a file leaves it out; what a pool in a file leaves out is withdrawn with prune only', async () => {
    const before = await exported(elsewhere);
    expect((await apply(elsewhere, acme(), false)).changes).toEqual([]);
    expect(await exported(elsewhere)).toBe(before);
    const file =
      acme(', credentials: [{ name: team-2, credential: { env: ACME_KEY_2 }, weight: 5 }]') + models;
    const kept = await apply(elsewhere, file);
    expect(kept.changes).toContain('~ credential team-2 of acme: weight, rpm, models');
    expect(kept.leftOut).toEqual(['credential spare of acme']);
    const compared = await ask(hostOf(elsewhere), compareCatalogueOperation, {
      actor,
      input: { files: [{ name: 'file.yaml', text: file }] },
    });
    expect(compared).toMatchObject({ changes: [], leftOut: ['credential spare of acme'] });
    expect((await apply(elsewhere, file, true)).changes).toEqual(['- credential spare of acme: withdrawn']);
    expect(await poolAt(elsewhere)).toMatchObject({
      default: { withdrawn: false },
      spare: { withdrawn: true, kind: 'sealed' },
      'team-2': { weight: 5, rpm: null, models: null },
    });
    const { before: was, after } = await newestRow(elsewhere);
    expect([was, after]).toEqual([
      { 'credential acme spare': { withdrawn: false } },
      { 'credential acme spare': { withdrawn: true } },
    ]);
  });

  it('seals a secret that a file gives, and no row of the trail has it', async () => {
    const file = acme(`, credentials: [{ name: given, credential: { value: ${secrets[0]} } }]`);
    expect((await apply(elsewhere, file)).changes).toEqual(['+ credential given of acme']);
    expect((await apply(elsewhere, file)).changes).toEqual([]);
    const changed = file.replace(secrets[0], secrets[1]);
    expect((await apply(elsewhere, changed)).changes).toEqual(['~ credential given of acme: credential']);
    const { before, after } = await newestRow(elsewhere);
    expect([before, after]).toEqual([
      { 'credential acme given': { credential: 'sealed' } },
      { 'credential acme given': { credential: 'replaced' } },
    ]);
    const provider = (await hostOf(elsewhere).catalogue()).providers.get('acme');
    expect(provider?.credentials.find(({ name }) => name === 'given')?.secret).toBe(secrets[1]);
    const written = JSON.stringify(
      [
        await elsewhere.prisma.audit.findMany(),
        await elsewhere.prisma.credential.findMany(),
        await elsewhere.prisma.provider.findMany(),
      ],
      (_, value) => (typeof value === 'bigint' ? String(value) : value),
    );
    for (const secret of secrets) expect(written).not.toContain(secret);
  });

  it('is refused with its line if it names an unknown model or makes the pool too large', async () => {
    const before = await exported(elsewhere);
    const unknown = await refusalOf(
      apply(elsewhere, acme(',\n      credentials: [\n        { name: a, models: [acme/none] }]')),
    );
    expect(unknown).toMatch(/file\.yaml:4.*credential a of acme may serve acme\/none/);
    const many = Array.from({ length: 99 }, (_, at) => `{ name: c${at} }`).join(', ');
    const large = await refusalOf(apply(elsewhere, acme(`, credentials: [${many}]`)));
    expect(large).toContain('it may have at most 100: remove some first');
    expect(await exported(elsewhere)).toBe(before);
  });
});
