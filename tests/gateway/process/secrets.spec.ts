import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManagementKey } from '#lib/control/management-key/operations';
import { setCredential } from '#lib/control/provider/credential';
import { createWebhook } from '#lib/control/webhook/operations';
import { askAs } from '#tests/gateway/contract/speaker';
import { speakers } from '#tests/gateway/contract/speakers/index';
import { createUser, operate } from '#tests/support/control/operate';
import { eventually } from '#tests/support/eventually';
import { type OwnStack, secrets, startStack } from '#tests/support/stack';

/** A word that stands nowhere else, without anything that JSON or CSV would escape. */
const canary = (what: string) => `${what}${randomBytes(12).toString('hex')}`;

describe('a secret or a prompt (contract: operations/secrets)', { timeout: 240_000 }, () => {
  let stack: OwnStack;
  beforeAll(async () => {
    stack = await startStack({ env: { LOG_LEVEL: 'trace', METRICS_TOKEN: 'scrape' } });
  });
  afterAll(() => stack.close());

  /** Every row of every table as text, by table. */
  async function readTables(): Promise<Map<string, string>> {
    const { rows: tables } = await stack.db.pool.query(
      `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
    );
    const texts = new Map<string, string>();
    for (const { name } of tables) {
      const { rows } = await stack.db.pool.query(
        `SELECT string_agg(t::text, E'\\n') AS text FROM ${name} AS t`,
      );
      texts.set(name, rows[0].text ?? '');
    }
    return texts;
  }

  it('is in no table, log, metric or answer to somebody else, whatever family it went through', async () => {
    const { slug, id } = await stack.workspace();
    const { key } = await stack.key(slug);
    const pepper = secrets.KEY_PEPPER;
    const management = await operate(
      stack.db,
      createManagementKey,
      { workspace: slug, name: 'ci', role: 'owner' },
      pepper,
    );
    const password = canary('password');
    const email = `${canary('mail')}@example.com`;
    await createUser(stack.db, { email, password });
    const credential = canary('credential');
    await operate(stack.db, setCredential, { provider: 'second', value: credential }, pepper);
    const webhook = await operate(
      stack.db,
      createWebhook,
      { workspace: slug, url: 'https://93.184.216.34/hook' },
      pepper,
    );
    const prompt = canary('prompt');
    const cookie = canary('cookie');
    const ids: string[] = [];
    for (const speaker of speakers) {
      for (const directive of [`echo?say=${prompt}`, `fault/status-500?say=${prompt}`]) {
        const asked = await askAs(speaker, stack.url, key, { directive });
        ids.push(asked.id);
      }
    }
    const headers = {
      authorization: `Bearer ${key}`,
      cookie: `session=${cookie}`,
      'content-type': 'application/json',
    };
    const film = await fetch(`${stack.url}/v1/videos`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        model: 'sandbox/film',
        prompt: `[[film?job_ms=50&say=${prompt}]]`,
        seconds: '4',
      }),
    });
    ids.push(film.headers.get('x-request-id') ?? '');
    const wrong = await fetch(`${stack.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${key.slice(0, -1)}x` },
      body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: prompt }] }),
    });
    const logged = async () => {
      const { rows } = await stack.db.pool.query(
        'SELECT count(*)::int AS n FROM call WHERE workspace_id = $1',
        [id],
      );
      return rows[0].n >= ids.length;
    };
    await eventually(logged, true);

    const metrics = await fetch(`${stack.url}/api/metrics`, { headers: { authorization: 'Bearer scrape' } });
    const places = new Map([
      ...(await readTables()),
      ['the log', await stack.log()],
      ['the metrics', await metrics.text()],
      ['the refusal of a wrong key', await wrong.text()],
    ]);
    const hidden = {
      prompt,
      cookie,
      key,
      management: management.key,
      webhook: webhook.key,
      password,
      credential,
    };
    const found = Object.entries(hidden).flatMap(([what, value]) => {
      const forms = [value, Buffer.from(value).toString('hex'), Buffer.from(value).toString('base64')];
      return [...places].flatMap(([place, text]) =>
        forms.some((form) => text.includes(form)) ? [`${what} in ${place}`] : [],
      );
    });
    expect(found).toEqual([]);
    // What is kept is found: an address of a person, in its own table and the trail.
    expect([...places].flatMap(([place, text]) => (text.includes(email) ? [place] : [])).sort()).toEqual([
      '"user"',
      'audit',
    ]);
    expect(places.get('the log')).not.toBe('');
  });
});
