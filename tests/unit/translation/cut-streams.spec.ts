import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import { families } from '#lib/core/families/index';
import { scan } from '#lib/core/families/scan';
import { createReading } from '#lib/core/metering/create-meter';
import type { AnswerPart, Conversation, TextProtocol } from '#lib/core/translation/conversation';
import { translations } from '#lib/core/translation/index';
import { translateStream } from '#lib/gateway/translation/answer';
import { PackageRun } from '#lib/gateway/translation/package-run';
import { cuts } from '#tests/unit/relay/streams';
import { callParts, finish, makeFacts, textParts, writeAll } from '#tests/unit/translation/answers';

const protocols: readonly TextProtocol[] = ['chat', 'responses', 'messages', 'generate-content'];
const directions = protocols.flatMap((from) =>
  protocols.filter((to) => to !== from).map((to) => ({ from, to })),
);
const conversation: Conversation = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
  maxOutputTokens: 100,
  tools: [{ type: 'function', name: 'look', inputSchema: { type: 'object' } }],
};
const parts: readonly AnswerPart[] = [
  ...textParts('0', 'Grüße ', '👋 ', 'end.'),
  ...callParts('call_1', 'look', '{"at":', '"Łódź"}'),
  finish('tool-calls'),
];
/** What no stream has that broke off. */
const ownEnd: Readonly<Record<TextProtocol, RegExp>> = {
  chat: /"finish_reason":"|\[DONE\]/,
  responses: /response\.(completed|incomplete)/,
  messages: /message_stop|message_delta/,
  'generate-content': /"finishReason"/,
};

/** A provider's stream: written by the writer of its protocol. */
function streamOf(protocol: TextProtocol): Buffer {
  const writer = translations[protocol].createWriter(makeFacts({ echo: { includeUsage: true } }));
  return Buffer.from(writeAll(writer, parts));
}

function meterOf(protocol: TextProtocol) {
  const family = families.find(({ id }) => id === protocol);
  const operation = family?.operations.find(({ name }) =>
    ['chat.create', 'responses.create', 'messages.create', 'content.stream'].includes(name),
  );
  if (!family || !operation) throw new Error(`no family ${protocol}`);
  const body = Buffer.from(JSON.stringify({ ...family.leastBody, model: 'm', stream: true }));
  const scanned = scan(body, operation.fields ?? {});
  if ('fault' in scanned) throw new Error('the body is not JSON');
  const ask = family.readAsk({ operation, params: { model: 'm' }, scan: scanned });
  if (isRefusal(ask)) throw new Error(ask.message);
  return createReading(family, ask, { contentType: 'text/event-stream' }).meter;
}

/** What the client gets of a provider's stream that comes in these pieces and then ends, or breaks off. */
async function translated(
  { from, to }: { readonly from: TextProtocol; readonly to: TextProtocol },
  pieces: readonly Uint8Array[],
  broken: boolean,
): Promise<string> {
  const run = await PackageRun.begin(to, 'model', { conversation, stream: true });
  const meter = meterOf(to);
  const answer = translateStream(from, run, makeFacts({ echo: { includeUsage: true } }), false);
  let got = '';
  await new Promise<void>((resolve) => {
    const reader = answer.through(
      {
        data: (chunk) => {
          got += chunk.toString();
        },
        end: () => resolve(),
        fail: (error) => {
          got += answer.breakOff(error.message);
          resolve();
        },
      },
      { meter, isCut: () => false },
    );
    for (const piece of pieces) {
      meter.push(piece);
      reader.data(Buffer.from(piece));
    }
    meter.end();
    if (broken) reader.fail(new Error('cut'));
    else reader.end();
  });
  return got;
}

describe.each(directions)('a stream of $to for a client of $from', (direction) => {
  const stream = streamOf(direction.to);

  it('is the same however its bytes are cut', async () => {
    const whole = await translated(direction, [stream], false);
    expect(whole).toMatch(ownEnd[direction.from]);
    for (const pieces of cuts(stream, 37)) expect(await translated(direction, pieces, false)).toBe(whole);
  });

  it('that breaks off at any byte ends with the error of the client’s protocol, and what came before is whole', async () => {
    const whole = await translated(direction, [stream], false);
    for (let at = 0; at < stream.length; at += 61) {
      const got = await translated(direction, [stream.subarray(0, at)], true);
      const events = got.split(/\r?\n\r?\n/).filter((event) => event !== '');
      expect(events.at(-1), got).toContain('"cut"');
      expect(got).not.toMatch(ownEnd[direction.from]);
      const before = events.filter((event) => !event.includes('"cut"'));
      for (const event of before) expect(whole).toContain(event);
    }
  });
});
