import { expect, it } from 'vitest';
import { findRefusalHelp } from '#lib/console/show/refusal-help';

it('a refusal of a call with an end user or tags may have been by a budget of theirs, and links to these budgets', () => {
  for (const code of ['day_limit_reached', 'd7_limit_reached', 'd30_limit_reached', 'api_key_rpm_exceeded']) {
    expect(findRefusalHelp(code)?.mend).toBe('key');
    expect(findRefusalHelp(code, true)).toMatchObject({
      text: expect.stringMatching(/^The key, or a budget of the end user or of a tag, /),
      mend: 'tag-budgets',
    });
  }
  expect(findRefusalHelp('quota_exceeded', true)?.mend).toBe('key');
  expect(findRefusalHelp('unknown', true)).toBeNull();
});
