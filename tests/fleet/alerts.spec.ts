import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
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

/** The shipped rules, with seconds in place of minutes and a few in place of thousands. */
const hurried = () =>
  readFileSync(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8')
    .replaceAll(/for: \d+[ms]/g, 'for: 3s')
    .replaceAll(/\[(5|10)m\]/g, '[15s]')
    .replace('gateway_flagged_charges_total[1h]', 'gateway_flagged_charges_total[15s]')
    .replace('gateway_outbox_oldest_seconds) > 900', 'gateway_outbox_oldest_seconds) > 4')
    .replace('gateway_journal_oldest_seconds) > 300', 'gateway_journal_oldest_seconds) > 4')
    .replace('gateway_journal_backlog_calls) > 5000', 'gateway_journal_backlog_calls) > 3')
    .replace('state="waiting"}) > 20', 'state="waiting"}) > 3');

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

/**
 * Every shipped rule, in a real gateway. It needs Prometheus and root, and takes five minutes, so it is not in every run
 * of the tests: `npm run fleet -- --minutes 1 alerts`.
 */
describe.skipIf(!hasPrometheus || !process.env.FLEET_FIGURES)(
  'the shipped alerts fire by the real cause, and end with it',
  () => {
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

    const ask = (directive = '', fields = {}) => askChat(stack.url, key, { directive, ...fields });
    const fires = (name: string) => eventually(async () => (await prometheus.firing()).includes(name), true);
    const ends = (name: string) => eventually(async () => (await prometheus.firing()).includes(name), false);
    /** Makes the cause again and again until all of these fire. */
    const firesBy = async (cause: () => Promise<unknown>, ...names: string[]) => {
      for (const name of names) await ends(name);
      const seen = new Set<string>();
      while (!names.every((name) => seen.has(name))) {
        await cause();
        for (const name of await prometheus.firing()) seen.add(name);
        await pause(100);
      }
    };
    /** Makes healthy calls until this alert is over. */
    const endsBy = async (healthy: () => Promise<unknown>, name: string) => {
      while ((await prometheus.firing()).includes(name)) {
        await healthy();
        await pause(100);
      }
    };
    const journal = () => join(disk.path, 'journal');

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

    it('GatewayDatabaseAway, then the alerts of what waits, then those of refused calls: the database is away', async () => {
      await ask();
      stack.databaseProxy.cut();
      for (let call = 0; call < 5; call += 1) expect((await ask()).answer.status).toBe(200);
      await fires('GatewayDatabaseAway');
      await fires('GatewayBacklog');
      await fires('GatewayJournalStuck');
      // Once leases have ended.
      await firesBy(() => ask(), 'GatewayNotReady', 'GatewayOwnFailures');
      stack.databaseProxy.restore();
      await ends('GatewayDatabaseAway');
      await ends('GatewayBacklog');
      await ends('GatewayJournalStuck');
      await ends('GatewayNotReady');
      await ends('GatewayOwnFailures');
    });

    it('GatewayDatabaseConnections: more callers than connections wait for the database', async () => {
      const { slug } = await stack.workspace();
      const keys = await Promise.all(Array.from({ length: 40 }, () => stack.key(slug)));
      const locking = new Client({ connectionString: stack.databaseUrl });
      await locking.connect();
      await locking.query('BEGIN; LOCK TABLE api_key IN ACCESS EXCLUSIVE MODE');
      const first = () => Promise.all(keys.map((one) => askChat(stack.url, one.key, {})));
      await firesBy(first, 'GatewayDatabaseConnections');
      await locking.end();
      await ends('GatewayDatabaseConnections');
    });

    it('GatewayProviderErrors and GatewayOfferSetAside: a provider answers 500 to everything', async () => {
      await firesBy(() => ask('fault/status-500'), 'GatewayProviderErrors', 'GatewayOfferSetAside');
      await endsBy(() => ask(), 'GatewayOfferSetAside');
      await endsBy(() => ask(), 'GatewayProviderErrors');
    });

    it('GatewayProviderRefuses and GatewayCredentialRefused: a provider answers 401 to everything', async () => {
      await firesBy(() => ask('fault/status-401'), 'GatewayProviderRefuses', 'GatewayCredentialRefused');
      await endsBy(() => ask(), 'GatewayProviderRefuses');
    });

    it('GatewayProviderLimits: a provider answers 429 to everything', async () => {
      await firesBy(() => ask('fault/status-429'), 'GatewayProviderLimits');
      await endsBy(() => ask(), 'GatewayProviderLimits');
    });

    it('GatewayBrokenAnswers: streams break off after their first words', async () => {
      await firesBy(() => ask('fault/cut@2', { stream: true }), 'GatewayBrokenAnswers');
      await endsBy(() => ask(), 'GatewayBrokenAnswers');
    });

    it('GatewayFlaggedCharges: a provider reports usage that cannot be', async () => {
      await firesBy(() => ask('fault/absurd-usage'), 'GatewayFlaggedCharges');
      await endsBy(() => ask(), 'GatewayFlaggedCharges');
    });

    it('GatewayEventLoop: the process does not get the processor', async () => {
      const stutter = async () => {
        stack.gateway().kill('SIGSTOP');
        await pause(400);
        stack.gateway().kill('SIGCONT');
      };
      await firesBy(stutter, 'GatewayEventLoop');
      await ends('GatewayEventLoop');
    });

    it('GatewayOverhead: calls wait for a balance that another transaction keeps locked', async () => {
      const locking = new Client({ connectionString: stack.databaseUrl });
      await locking.connect();
      const wait = async () => {
        // The first call of a workspace asks the database for money.
        const { id, slug } = await stack.workspace();
        const fresh = await stack.key(slug);
        await locking.query('BEGIN');
        await locking.query('SELECT FROM workspace WHERE id = $1 FOR UPDATE', [id]);
        const asked = askChat(stack.url, fresh.key, {});
        await locking.query('SELECT pg_sleep(0.5)');
        await locking.query('COMMIT');
        await asked;
      };
      await firesBy(wait, 'GatewayOverhead');
      await locking.end();
      await ends('GatewayOverhead');
    });

    it('GatewayAway and GatewayProcessMissing: the only process is killed', async () => {
      await stack.kill('SIGKILL');
      await fires('GatewayAway');
      await fires('GatewayProcessMissing');
      await stack.start();
      await ends('GatewayAway');
      await ends('GatewayProcessMissing');
    });

    it('GatewayRecordsSetAside: the disk has changed a record of a killed process', async () => {
      await ask();
      stack.databaseProxy.cut();
      for (let call = 0; call < 3; call += 1) await ask();
      await stack.kill('SIGKILL');
      for (const name of readdirSync(journal()).filter((one) => one.endsWith('.log'))) {
        const file = join(journal(), name);
        const bytes = readFileSync(file);
        bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40);
        writeFileSync(file, bytes);
      }
      stack.databaseProxy.restore();
      await stack.start();
      await fires('GatewayRecordsSetAside');
      // An operator deletes them after comparing them with the provider's invoice.
      await stack.kill('SIGTERM');
      const aside = readdirSync(journal()).filter((one) => !one.endsWith('.log'));
      for (const name of aside) rmSync(join(journal(), name), { recursive: true });
      await stack.start();
      await ends('GatewayRecordsSetAside');
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
  },
);
