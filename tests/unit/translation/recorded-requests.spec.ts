import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { TextProtocol } from '#lib/core/translation/conversation';
import { folder } from '#tests/unit/relay/streams';
import { families } from '#tests/unit/translation/recorded';
import { type Typed, typeErrors } from '#tests/unit/translation/sdk-types';
import { sendAs } from '#tests/unit/translation/sent';

const protocols = ['chat', 'responses', 'messages', 'generate-content'] as const;

/** Requests that cannot be translated, the target if it is only one, and what the refusal is about. */
const untranslatable: readonly (readonly [file: string, why: RegExp, ...targets: TextProtocol[]])[] = [
  // Addresses of pictures without an ending.
  ['test_vision__test_vision', /address/, 'generate-content'],
  ['voxtral-small-latest_can_understand_mp3', /input_audio/, 'responses', 'messages'],
  // The only message is empty.
  ['test_responses_count_tokens', /"input"/],
  ['test_anthropic_advisor_tool_message_replay', /advisor/],
  // Chat has no search.
  ['test_anthropic_text_parts_ahead_of_built_in', /web_search/, 'chat'],
  ['test_thinking_with_native_tool_wire_contract_anthropic', /web_search/, 'chat'],
  ['chat_web_search_with_anthropic', /web_search/, 'chat'],
  ['test_native_output_with_builtin_tool', /googleSearch/, 'chat'],
  ['test_google_vertexai_count_tokens_forwards_native_tools', /googleSearch/, 'chat'],
  // Google refuses it too.
  ['cassettes__test_generate_content_invalid_role', /role/],
  ['test_google_model_cached_content', /cachedContent/],
  ['test_code_execution__test_code_execution_stream', /codeExecution/],
  ['test_google_model_file_search', /fileSearch/],
  ['test_google_model_web_fetch_tool', /urlContext/],
  ['test_google_url_input_AudioUrl_gs_', /file_uri/],
  ['gemini-2_5-flash_can_understand_audio', /audio\/wav/, 'responses', 'messages'],
  ['gemini-2_5-flash_can_understand_mp3', /audio\/mpeg/, 'responses', 'messages'],
  // A count of tokens, whose request is inside another.
  ['counts_a_staged_message', /"contents"/],
];

function refusalOf(file: string, to: TextProtocol): RegExp | undefined {
  return untranslatable.find(
    ([name, , ...targets]) => file.includes(name) && (targets.length === 0 || targets.includes(to)),
  )?.[1];
}

const files = existsSync(folder)
  ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.req.json'))
  : [];

const bodies: Typed[] = [];

describe.each(protocols)('recorded requests of %s', (from) => {
  const recorded = files.filter((file) => families[from].includes(file.split('/')[1] ?? ''));

  it.skipIf(recorded.length === 0)(
    'are sent to models of other protocols, unless they ask for what these do not have',
    async () => {
      for (const file of recorded) {
        const request = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
        for (const to of protocols.filter((one) => one !== from)) {
          const sent = await sendAs(from, to, request);
          const refused = refusalOf(file, to);
          if ('message' in sent) {
            expect([file, to, sent.message]).toEqual([file, to, expect.stringMatching(refused ?? /^$/)]);
          } else {
            expect([file, to, refused]).toEqual([file, to, undefined]);
            bodies.push({ protocol: to, body: sent.body, from: file });
          }
        }
      }
    },
  );
});

it.skipIf(files.length === 0)(
  'what is sent of recorded requests is as the published schemas have it',
  async () => {
    expect(bodies.length).toBeGreaterThan(300);
    expect(await typeErrors(bodies)).toEqual([]);
  },
);

describe('the check of bodies by the types of the SDKs', () => {
  it('finds what is wrong in each protocol', async () => {
    const bad: Typed[] = [
      {
        protocol: 'chat',
        body: { model: 'm', messages: [{ role: 'user', content: [{ type: 'image' }] }] },
        from: 'a',
      },
      { protocol: 'responses', body: { model: 'm', input: [{ role: 'user', content: 7 }] }, from: 'b' },
      { protocol: 'messages', body: { model: 'm', max_tokens: 1, messages: [], top_q: 1 }, from: 'c' },
      { protocol: 'generate-content', body: { contents: [{ parts: [{ txt: 'x' }] }] }, from: 'd' },
    ];
    const errors = await typeErrors(bad);
    expect(errors.map((error) => error.slice(0, 5))).toEqual(['a, as', 'b, as', 'c, as', 'd, as']);
  });
});
