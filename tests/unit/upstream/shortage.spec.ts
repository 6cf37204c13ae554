import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shortageIn } from '#lib/gateway/upstream/shortage';

const failed = (code: string) => Object.assign(new Error(code), { code });

/** Looks a name up in a process that has no file left. */
const program = `
  import { lookup } from 'node:dns';
  import { openSync } from 'node:fs';
  import { shortageIn } from '#lib/gateway/upstream/shortage';
  const say = (text) => process.stdout.write(text);
  say('');
  try { for (;;) openSync('/dev/null'); } catch {}
  lookup('no-such-host.invalid', (error) => say(error.code + ' ' + shortageIn(error)?.code));
`;

describe('why a connection failed (contract: call-log/machine-faults)', () => {
  it.each(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'])('%s is a fault of this machine', (code) => {
    expect(shortageIn(failed(code))).toMatchObject({ code });
    expect(shortageIn(new Error('wrapped', { cause: failed(code) }))).not.toBeNull();
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL'])('%s is none', (code) => {
    expect(shortageIn(failed(code))).toBeNull();
  });

  it('a name that cannot be looked up for lack of file descriptors is a fault of this machine', () => {
    const node = [process.execPath, '--input-type=module', '-e', program];
    const { stdout } = spawnSync('bash', ['-c', 'ulimit -n 60; exec "$0" "$@"', ...node]);
    expect(String(stdout)).toMatch(/^(ENOTFOUND|EAI_AGAIN|EMFILE) EMFILE$/);
  });
});
