import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#tests/support/run/free-port';
import { root } from '#tests/support/stack';

export const nginxIsHere = spawnSync('nginx', ['-v']).status === 0;

export interface Nginx {
  readonly url: string;
  /** What it has written to its log of errors. */
  log(): string;
  close(): Promise<void>;
}

/**
 * Starts nginx with `deploy/nginx.conf`, in front of these ports instead of the containers.
 * @param idleSeconds after how long it closes an idle connection, instead of an hour.
 */
export async function startNginx(ports: readonly number[], idleSeconds = 3_600): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-nginx-'));
  const port = await freePort();
  const servers = ports.map((one) => `server 127.0.0.1:${one} max_fails=0;`).join('\n');
  const shipped = readFileSync(join(root, 'deploy/nginx.conf'), 'utf8');
  const here = shipped
    .replaceAll('/tmp/', `${folder}/`)
    .replace('proxy_read_timeout 3600s', `proxy_read_timeout ${idleSeconds}s`)
    .replace('proxy_send_timeout 3600s', `proxy_send_timeout ${idleSeconds}s`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    // Names of containers, which are resolved again: Debian's nginx is too old for that.
    .replace(/(?: *server gateway-\d:3000 resolve max_fails=0;\n)+/, `${servers}\n`);
  if (here.includes('gateway-1')) throw new Error('deploy/nginx.conf names its gateways in another way');
  writeFileSync(join(folder, 'nginx.conf'), here);
  const args = ['-c', join(folder, 'nginx.conf'), '-p', folder, '-e', 'stderr', '-g', 'daemon off;'];
  const child = spawn('nginx', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (text) => {
    log += text;
  });
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`nginx ended:\n${log}`);
    if (await fetch(`${url}/api/health`).catch(() => null)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    log: () => log,
    close: async () => {
      const ended = once(child, 'exit');
      if (child.exitCode === null && child.kill('SIGTERM')) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
