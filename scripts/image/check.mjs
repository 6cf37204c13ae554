// `node scripts/image/check.mjs [FOLDER]`: runs the files of the image (assembles them there if missing) as the image does:
// as a user who may write only to /data. As root it uses the image's user, otherwise the current one; exits 1 on failure.
import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { root } from '../bootstrap.mjs';
import { freePort } from '../free-port.mjs';
import { run } from '../run.mjs';

const image = resolve(process.argv[2] ?? join(tmpdir(), 'model-gateway-image'));
if (!existsSync(join(image, 'dist/server.js')))
  await run(process.execPath, [join(root, 'scripts/image/assemble.mjs'), image]);
const dataDir = mkdtempSync(join(tmpdir(), 'model-gateway-data-'));
const user = process.getuid?.() === 0 ? { uid: 65532, gid: 65532 } : {};
if (user.uid) chownSync(dataDir, user.uid, user.gid);
const port = await freePort();
const env = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PORT: String(port),
  DATA_DIR: dataDir,
  WORKERS: '2',
  NEXT_TELEMETRY_DISABLED: '1',
};
const start = (...args) => spawn(process.execPath, args, { cwd: image, env, ...user });
const server = start('--disable-warning=ExperimentalWarning', 'dist/server.js');
let printed = '';
for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (printed += text));
const exited = new Promise((ended) => server.once('exit', ended));
const address = `http://127.0.0.1:${port}`;
try {
  for (let tries = 0; !printed.includes('Then look it up'); tries += 1) {
    if (tries > 600 || server.exitCode !== null) throw new Error(`the gateway did not start:\n${printed}`);
    await new Promise((later) => setTimeout(later, 200));
  }
  const [key] = /mg_\w+/.exec(printed) ?? [];
  const call = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect('a call', call.status, 200);
  for (const page of ['/sign-in', '/models', '/docs/quickstart', '/api/v1/openapi.json'])
    expect(page, (await fetch(address + page)).status, 200);
  expect('the health check', await exitOf(start('scripts/image/health.mjs')), 0);
  expect('the ledger', await exitOf(start('dist/gateway.js', 'ledger', 'verify')), 0);
} finally {
  server.kill('SIGTERM');
  expect('shutdown', await exited, 0);
  rmSync(dataDir, { recursive: true, force: true });
}

function expect(what, seen, wanted) {
  process.stdout.write(`${seen === wanted ? 'ok    ' : 'FAILED'} ${what}: ${seen}\n`);
  if (seen !== wanted) process.exitCode = 1;
}

function exitOf(child) {
  child.stdout.resume();
  child.stderr.pipe(process.stderr);
  return new Promise((ended) => child.once('exit', ended));
}
