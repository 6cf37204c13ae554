import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { objectIn, parseJson } from '#lib/core/families/reading/json';
import { isUnreadable } from '#lib/core/translation/conversation';
import { read as readContent } from '#lib/core/translation/generate-content/read';
import { read as readMessages } from '#lib/core/translation/messages/read';
import { folder } from '#tests/unit/relay/streams';

/** Requests that cannot be translated, and the field that says why. */
const untranslatable: readonly (readonly [file: string, field: string])[] = [
  ['test_anthropic__test_anthropic_advisor_tool_message_replay', 'tools[0].type'],
  ['test_google__test_google_url_input_AudioUrl_gs_', 'contents[0].parts[1].fileData.file_uri'],
  ['test_code_execution__test_code_execution_stream', 'tools[0].codeExecution'],
  ['test_google__test_google_model_file_search', 'tools[0].fileSearch'],
  ['test_google__test_google_model_web_fetch_tool', 'tools[0].urlContext'],
  // Google refuses it too.
  ['cassettes__test_generate_content_invalid_role', 'contents[0].role'],
  // A count of tokens, whose request is inside another.
  ['counts_a_staged_message', 'contents'],
];

const files = existsSync(folder)
  ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.req.json'))
  : [];

describe.each([
  { protocol: 'messages', read: readMessages, of: /\/messages\// },
  { protocol: 'generate-content', read: readContent, of: /\/generateContent(-vertex)?\// },
])('recorded requests of $protocol', ({ read, of }) => {
  const recorded = files.filter((file) => of.test(file));

  it.skipIf(recorded.length === 0)('are read, unless they ask for what only their own provider has', () => {
    expect(recorded.length).toBeGreaterThan(20);
    for (const file of recorded) {
      const body = objectIn(parseJson(readFileSync(new URL(file, folder), 'utf8'))) ?? {};
      const request = read(body);
      const [, field] = untranslatable.find(([name]) => file.includes(name)) ?? [];
      expect([file, isUnreadable(request) ? request.field : undefined]).toEqual([file, field]);
    }
  });
});
