import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

const scripts = new URL('../../scripts/', import.meta.url).href;

/** A program beside the scripts of the start, as a process. */
function program(code: string) {
  return spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Has ended, whether or not somebody has asked for its end yet. */
function isGone(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

describe('what a start runs before the server', () => {
  it('adds the settings of .env to the environment, which takes precedence (contract: operations/env-file)', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'gateway-env-')), '.env');
    writeFileSync(
      file,
      `# mail\nSMTP_URL='smtp://a:b$c@m'\nPORT=1\nexport LOG_LEVEL="warn" # more\nREDIS_URL=redis://r\n`,
    );
    const start = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { readEnvFile } from '${scripts}bootstrap.mjs';
         readEnvFile('${file}');
         readEnvFile('${file}-none');
         const { SMTP_URL, PORT, LOG_LEVEL, REDIS_URL } = process.env;
         console.log(JSON.stringify({ SMTP_URL, PORT, LOG_LEVEL, REDIS_URL }));`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { NODE_ENV: 'test', PORT: '2', REDIS_URL: '' } },
    );
    expect(JSON.parse(await text(start.stdout))).toEqual({
      SMTP_URL: 'smtp://a:b$c@m',
      PORT: '2',
      LOG_LEVEL: 'warn',
      REDIS_URL: '',
    });
  });

  it('ends with a start that is killed, even if it ignores SIGTERM', async () => {
    const stubborn = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log(process.pid);`;
    const start = program(
      `import { run } from '${scripts}run.mjs'; await run(process.execPath, ['-e', ${JSON.stringify(stubborn)}]);`,
    );
    const [line] = await once(createInterface(start.stdout), 'line');
    expect(isGone(Number(line))).toBe(false);
    start.kill('SIGKILL');
    await expect.poll(() => isGone(Number(line))).toBe(true);
  });

  it('goes on when its program has ended, even if a process left behind keeps the output open', async () => {
    const leaves = `const left = require('node:child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600_000)'],
      { detached: true, stdio: 'inherit' });
      left.unref();
      console.log(left.pid);`;
    const start = program(
      `import { run } from '${scripts}run.mjs';
       await run(process.execPath, ['-e', ${JSON.stringify(leaves)}], { output: 'atEnd' });`,
    );
    const pid = Number(await text(start.stdout));
    expect(pid).toBeGreaterThan(1);
    process.kill(pid, 'SIGKILL');
  });

  const takeTurn = (root: string) =>
    program(
      `import { takeTurn } from '${scripts}turn.mjs'; (await takeTurn('${root}'))(); console.log('taken');`,
    );
  const linkOf = (root: string) =>
    join(tmpdir(), `model-gateway-${createHash('sha256').update(root).digest('hex').slice(0, 20)}.turn`);

  it('does not wait for an ended start whose process id belongs to another process now', async () => {
    const root = mkdtempSync(join(tmpdir(), 'gateway-turn-'));
    symlinkSync(`${process.pid}:1`, linkOf(root));
    expect(await text(takeTurn(root).stdout)).toBe('taken\n');
  });

  it('waits for a running start, and says so', async () => {
    const root = mkdtempSync(join(tmpdir(), 'gateway-turn-'));
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const born = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    symlinkSync(`${process.pid}:${born}`, linkOf(root));
    const waiting = takeTurn(root);
    const [said] = await once(waiting.stderr, 'data');
    expect(String(said)).toContain(`Waiting for process ${process.pid}`);
    rmSync(linkOf(root));
    expect(await text(waiting.stdout)).toBe('taken\n');
  });
});
