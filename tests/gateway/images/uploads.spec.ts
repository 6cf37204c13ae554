import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  answer,
  readSlowly,
  type ScriptedProvider,
  startScriptedProvider,
} from '#tests/gateway/images/scripted-provider';
import { spooledUploads } from '#tests/gateway/images/spooled';
import { closeBalanced } from '#tests/support/books';
import { bearer, codeOf, jsonOf } from '#tests/support/chat-call';
import { eventually } from '#tests/support/eventually';
import { type OwnStack, startStack } from '#tests/support/stack';
import { headerOf, requestText, talk } from '#tests/support/wire';
import { formOf } from '#tests/unit/multipart/make';

const mebibyte = 1024 * 1024;
const limit = 30 * mebibyte;

describe.each(['node', 'web'] as const)('a large upload over the %s lane', (lane) => {
  let provider: ScriptedProvider;
  let stack: OwnStack;
  let key: string;
  beforeAll(async () => {
    provider = await startScriptedProvider();
    const env = {
      TEST_SCRIPTED_URL: provider.url,
      MAX_UPLOAD_BYTES: String(limit),
      NODE_OPTIONS: '--max-semi-space-size=1',
    };
    stack = await startStack({ lane, env });
    key = (await stack.key((await stack.workspace({ rpm: 10_000 })).slug)).key;
  });
  beforeEach(() => {
    provider.script = (request, response) => {
      request.resume().on('end', () => answer(response));
    };
  });
  afterAll(async () => {
    await closeBalanced(stack).finally(() => provider.close());
  });

  const formType = { 'Content-Type': 'multipart/form-data; boundary=edge' };
  const edit = (bytes: number, headers: Record<string, string> = {}) => {
    const parts = [
      { name: 'image', filename: 'a.png', value: Buffer.alloc(bytes, 'x') },
      { name: 'prompt', value: 'green' },
      { name: 'model', value: 'test/picture-scripted' },
    ];
    return requestText(
      'POST',
      '/v1/images/edits',
      { ...bearer(key), ...formType, ...headers },
      formOf('edge', parts),
    );
  };
  const spooled = () => spooledUploads(stack.dataDir);
  /** Files of the upload folder that the gateway holds open, deleted ones included. */
  const openUploads = () => {
    const folder = `/proc/${stack.gateway().pid}/fd`;
    return readdirSync(folder).filter((fd) => {
      try {
        const path = readlinkSync(join(folder, fd));
        return path.startsWith(join(stack.dataDir, 'tmp')) && !/\.lock(?:-journal)?$/.test(path);
      } catch {
        return false;
      }
    }).length;
  };
  /** Writes what it has and resets the connection when the time has come, as a client that crashes. */
  async function sendAndLeave(bytes: Buffer, until: () => Promise<void>) {
    const { hostname, port } = new URL(stack.url);
    const socket = connect(Number(port), hostname).on('error', () => {});
    socket.write(bytes);
    await until();
    socket.resetAndDestroy();
  }
  async function expectNothingLeft() {
    await eventually(() => [spooled().length, openUploads()], [0, 0]);
  }

  it('is stored in a file that only its user can read, and forwarded whole with its exact length', async () => {
    let during: (readonly [number, number])[] = [];
    let got = { bytes: 0, length: '', type: '', coding: '' };
    provider.script = async (request, response) => {
      during = spooled().map((path) => {
        const { mode, size } = statSync(path);
        return [mode & 0o777, size] as const;
      });
      const { headers } = request;
      const bytes = await readSlowly(request, 0, limit);
      got = {
        bytes,
        length: headers['content-length'] ?? '',
        type: headers['content-type'] ?? '',
        coding: headers['transfer-encoding'] ?? '',
      };
      answer(response);
    };
    const text = edit(2 * mebibyte);
    const { answers } = await talk(stack.url, text);
    expect(answers[0]?.status).toBe(200);
    const sent = text.length - text.indexOf('\r\n\r\n') - 4;
    expect(during).toEqual([[0o600, sent]]);
    const renamed = sent - 'test/picture-scripted'.length + 'picture'.length;
    expect(got).toEqual({
      bytes: renamed,
      length: String(renamed),
      type: formType['Content-Type'],
      coding: '',
    });
    await expectNothingLeft();
  });

  it('of 25 MB to a slow provider adds less than 10 MB to memory', async () => {
    const pid = stack.gateway().pid;
    // What an upload costs for good is there before it is measured.
    await talk(stack.url, edit(25 * mebibyte));
    const added: number[] = [];
    // What held the file in memory would do so every time; a collector's mood passes.
    for (let tries = 0; tries < 3 && !added.some((size) => size < 10); tries++) {
      const before = residentBytes(pid);
      let most = 0;
      let got = 0;
      provider.script = async (request, response) => {
        const watch = setInterval(() => {
          most = Math.max(most, residentBytes(pid));
        }, 20);
        got = await readSlowly(request, 30, mebibyte / 2);
        clearInterval(watch);
        answer(response);
      };
      const { answers } = await talk(stack.url, edit(25 * mebibyte));
      expect(answers[0]?.status).toBe(200);
      expect(got).toBeGreaterThan(25 * mebibyte);
      added.push((most - before) / mebibyte);
    }
    expect(Math.min(...added), 'MiB while the provider read').toBeLessThan(10);
    await expectNothingLeft();
  });

  it('over the limit is refused while it is being read, with a length or in chunks', async () => {
    const announced = await talk(stack.url, edit(limit));
    expect(announced.answers[0] && codeOf(announced.answers[0])).toBe('invalid_body');
    const chunk = Buffer.concat([
      Buffer.from('100000\r\n'),
      Buffer.alloc(mebibyte, 'x'),
      Buffer.from('\r\n'),
    ]);
    const head = '--edge\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n';
    const { answers } = await talk(
      stack.url,
      requestText('POST', '/v1/images/edits', {
        ...bearer(key),
        ...formType,
        'Transfer-Encoding': 'chunked',
      }),
      {
        afterwards: (socket) => {
          socket.write(`${head.length.toString(16)}\r\n${head}\r\n`);
          for (let sent = 0; sent < 31; sent++) socket.write(chunk);
        },
      },
    );
    expect(answers[0] && codeOf(answers[0])).toBe('invalid_body');
    await expectNothingLeft();
  });

  it('that breaks the multipart rules early is refused before all of it came', async () => {
    const { answers } = await talk(
      stack.url,
      requestText(
        'POST',
        '/v1/images/edits',
        { ...bearer(key), ...formType, 'Content-Length': '20000000' },
        `--edge\r\nno header\r\n\r\n${'x'.repeat(70_000)}`,
      ),
    );
    expect(answers[0] && codeOf(answers[0])).toBe('invalid_body');
    expect(headerOf(answers[0] ?? none, 'connection')).toBe('close');
    await expectNothingLeft();
  });

  it('whose client disconnects while sending is deleted from the disk, and never forwarded', async () => {
    let asked = 0;
    provider.script = () => {
      asked += 1;
    };
    const text = edit(8 * mebibyte);
    await sendAndLeave(text.subarray(0, 5 * mebibyte), () => eventually(() => spooled().length, 1));
    await expectNothingLeft();
    expect(asked).toBe(0);
  });

  it('whose client disconnects while it is being forwarded ends at once', async () => {
    let began = () => {};
    const underway = new Promise<void>((resolve) => {
      began = resolve;
    });
    const gone = new Promise<void>((resolve) => {
      provider.script = (request) => {
        request.once('close', resolve);
        readSlowly(request, 100, mebibyte / 4).catch(() => {});
        began();
      };
    });
    await sendAndLeave(edit(12 * mebibyte), () => underway);
    await gone;
    await expectNothingLeft();
  });

  it.each(['reads on', 'hangs up'])('whose provider answers early and %s', async (how) => {
    const told = Promise.withResolvers<void>();
    provider.script = (request, response) => {
      response.writeHead(413, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"too large","code":null}}');
      if (how === 'reads on') request.resume();
      // What is unread by then resets the connection: no sooner than the gateway has the answer.
      else void told.promise.then(() => request.socket.destroy());
    };
    const { answers } = await talk(stack.url, edit(12 * mebibyte));
    told.resolve();
    const [got] = answers;
    if (!got) throw new Error('no answer');
    expect([got.status, jsonOf(got)]).toEqual([413, { error: { message: 'too large', code: null } }]);
    await expectNothingLeft();
  });

  it('whose provider hangs up is refused, and the next one is served', async () => {
    provider.script = (request) => {
      request.once('data', () => request.socket.destroy());
    };
    const { answers } = await talk(stack.url, edit(12 * mebibyte));
    expect(answers[0] && codeOf(answers[0])).toBe('upstream_request_failed');
    await expectNothingLeft();
    provider.script = (request, response) => {
      request.resume().on('end', () => answer(response));
    };
    expect((await talk(stack.url, edit(1_000))).answers[0]?.status).toBe(200);
  });

  // Both lanes put it into the same folder, and a start that clears it has no lane.
  if (lane === 'node') {
    it('of a process that was killed is deleted at the next start', async () => {
      provider.script = () => {};
      const cut = talk(stack.url, edit(12 * mebibyte));
      await eventually(() => spooled().length, 1);
      await stack.kill('SIGKILL');
      await cut;
      expect(spooled()).toHaveLength(1);
      await stack.start();
      await expectNothingLeft();
    });
  }
});

const none = { status: 0, reason: '', headers: [], body: Buffer.alloc(0), whole: false };

/** Memory of a process that is really there, bytes. */
function residentBytes(pid: number | undefined): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? 0) * 1024;
}
