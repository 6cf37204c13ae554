import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Forms that cannot lose what is pressed before their scripts are there, each for its reason. */
const others = [
  // What the others are made of.
  'components/form/form.tsx',
  // They open by a script.
  'components/form/confirm-dialog.tsx',
  'components/form/operation-form.tsx',
  'components/keys/popups/rotate-dialog.tsx',
  'components/members/invite-dialog.tsx',
  'components/logs/call-feedback.tsx',
  // Without its script, the browser leads to the same page with what was typed.
  'components/logs/compare-calls.tsx',
  // What was typed must not be in an address.
  'components/logs/search-content.tsx',
  // The browser itself leads to the address that they make.
  'components/audit/audit-filters.tsx',
  'app/(console)/[workspace]/members/page.tsx',
  'app/(console)/operator/workspaces/page.tsx',
];

it('every form that a page shows at once sends what was pressed before its scripts were there', () => {
  const forms = globSync('{app,components}/**/*.tsx').filter((file) =>
    /<form\b/.test(readFileSync(file, 'utf8')),
  );
  expect(forms.sort()).toEqual([...others].sort());
});
