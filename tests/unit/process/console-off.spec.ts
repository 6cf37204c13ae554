import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { readEnv } from '#lib/platform/env/env';
import { openConsole } from '#lib/programs/process/pages/console';

it('a page of a process with CONSOLE=off is 404 and names the setting (contract: operations/console-off)', async () => {
  const secrets = { NEXTAUTH_SECRET: 'a', ENCRYPTION_KEY: 'b', KEY_PEPPER: 'c' };
  const env = readEnv({ ...secrets, DATABASE_URL: 'postgresql://user@db.example/gateway', CONSOLE: 'off' });
  const log = pino({ level: 'silent' });
  // It needs none of the parts that pages are made of.
  const pages = await openConsole(
    env,
    { control: Object.create(null), throttle: Object.create(null), authSecrets: [], report: () => {} },
    log,
    false,
  );
  const server = createServer((request, response) => pages.serve(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/sign-in`, { headers: { connection: 'close' } });
  expect(answer.status).toBe(404);
  expect(await answer.text()).toMatch(/CONSOLE=off/);
  await Promise.all([once(server, 'close'), server.close()]);
});
