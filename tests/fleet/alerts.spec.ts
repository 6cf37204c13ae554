import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queueMail } from '#lib/control/outbox/queue-mail';
import { mountSmallDisk, type SmallDisk } from '#tests/gateway/process/small-disk';
import { askChat } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { startRedis, type TestRedis } from '#tests/support/redis/server';
import { freePort } from '#tests/support/run/free-port';
import { newDirectory } from '#tests/support/settlement';
import { type OwnStack, root, startStack } from '#tests/support/stack';

const token = 'a-token-of-the-test';
const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;

/** The shipped rules, but that they wait for seconds where those wait for minutes. */
const hurried = () =>
  readFileSync(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8')
    .replaceAll(/for: \d+m/g, 'for: 3s')
    .replace('gateway_outbox_oldest_seconds) > 900', 'gateway_outbox_oldest_seconds) > 4')
    .replace('gateway_journal_oldest_seconds) > 300', 'gateway_journal_oldest_seconds) > 4');

/** Real Prometheus, which scrapes the gateway by the shipped rules. */
async function startPrometheus(gateway: string) {
  const directory = newDirectory();
  const port = await freePort();
  writeFileSync(join(directory, 'alerts.yaml'), hurried());
  const config = {
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
    rule_files: ['alerts.yaml'],
    scrape_configs: [
      {
        job_name: 'gateway',
        metrics_path: '/api/metrics',
        authorization: { credentials: token },
        static_configs: [{ targets: [new URL(gateway).host] }],
      },
    ],
  };
  writeFileSync(join(directory, 'prometheus.yml'), JSON.stringify(config));
  const server = spawn(
    'prometheus',
    ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=127.0.0.1:${port}`],
    { cwd: directory, stdio: 'ignore' },
  );
  const ask = async <Data>(path: string): Promise<Data> => {
    const { data } = await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json();
    return data;
  };
  return {
    /** Names of the alerts that fire. */
    firing: async () => {
      const { alerts } = await ask<{ alerts: { state: string; labels: { alertname: string } }[] }>('alerts');
      const names = alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
      return [...new Set(names)].sort();
    },
    /** How often it has got the gateway's metrics. */
    scrapes: async () => {
      const query = encodeURIComponent('count_over_time(gateway_ready[5m])');
      const { result } = await ask<{ result: { value: [number, string] }[] }>(`query?query=${query}`).catch(
        () => ({ result: [] }),
      );
      return Number(result[0]?.value[1] ?? 0);
    },
    close: async () => {
      server.kill('SIGTERM');
      if (server.exitCode === null) await once(server, 'exit');
    },
  };
}

/** What fires the alerts of the machine and of what waits, in a real gateway (needs Prometheus and root). */
describe.skipIf(!hasPrometheus)('the shipped alerts fire by the real cause, and end with it', () => {
  let disk: SmallDisk;
  let redis: TestRedis;
  let stack: OwnStack;
  let prometheus: Awaited<ReturnType<typeof startPrometheus>>;
  let key: string;
  beforeAll(async () => {
    disk = mountSmallDisk(32);
    redis = await startRedis();
    stack = await startStack({
      dataDir: disk.path,
      env: {
        METRICS_TOKEN: token,
        REDIS_URL: redis.url,
        SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
        MAIL_FROM: 'gateway@example.com',
      },
    });
    const { slug } = await stack.workspace();
    key = (await stack.key(slug, { rpm: 10_000 })).key;
    await ask();
    prometheus = await startPrometheus(stack.url);
  });
  afterAll(async () => {
    await prometheus?.close();
    await stack?.close();
    await redis?.close();
    disk?.close();
  });

  const ask = () => askChat(stack.url, key, { model: 'sandbox/echo' });
  const fires = (name: string) => eventually(async () => (await prometheus.firing()).includes(name), true);
  const ends = (name: string) => eventually(async () => (await prometheus.firing()).includes(name), false);

  it('none fires while all is well', async () => {
    await eventually(async () => (await prometheus.scrapes()) >= 5, true);
    expect(await prometheus.firing()).toEqual([]);
  });

  it('GatewayLimitStoreAway: Redis does not answer', async () => {
    if (!redis.freezes) return;
    redis.freeze();
    await ask();
    await fires('GatewayLimitStoreAway');
    redis.thaw();
    await ends('GatewayLimitStoreAway');
  });

  it('GatewayDiskFull: the disk under DATA_DIR has no room', async () => {
    disk.fill();
    await fires('GatewayDiskFull');
    disk.free();
    await ends('GatewayDiskFull');
  });

  it('GatewayJournalStuck: the database is away and ended calls wait', async () => {
    await ask();
    stack.databaseProxy.cut();
    expect((await ask()).answer.status).toBe(200);
    await fires('GatewayJournalStuck');
    stack.databaseProxy.restore();
    await ends('GatewayJournalStuck');
  });

  it('GatewayOutboxStuck: the mail server takes no connection', async () => {
    const recipient = 'somebody@example.com';
    await stack.db.prisma.user.create({ data: { id: randomUUID(), email: recipient } });
    await queueMail(stack.db.pool, { kind: 'reset', recipient, lifeSeconds: 3600 });
    await fires('GatewayOutboxStuck');
    await stack.db.pool.query('DELETE FROM mail');
    await ends('GatewayOutboxStuck');
  });

  it('GatewayOutboxStuck: a process that hangs in its transaction keeps a delivery', async () => {
    const [id, hook, workspaceId] = [randomUUID(), randomUUID(), stack.workspaces[0]];
    await stack.db.pool.query(
      `INSERT INTO webhook (id, workspace_id, url, secret) VALUES ($1, $2, 'https://127.0.0.1/', 'sealed')`,
      [hook, workspaceId],
    );
    await stack.db.pool.query(
      `INSERT INTO webhook_delivery (id, webhook_id, workspace_id, event, body, next_try_at)
       VALUES ($1, $2, $3, 'test', '{}', now() + interval '5 seconds')`,
      [id, hook, workspaceId],
    );
    const hanging = new Client({ connectionString: stack.databaseUrl });
    await hanging.connect();
    await hanging.query('BEGIN');
    await hanging.query('SELECT FROM webhook_delivery WHERE id = $1 FOR UPDATE', [id]);
    await fires('GatewayOutboxStuck');
    await hanging.end();
    await ends('GatewayOutboxStuck');
  });
});
