import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'playwright/test';
import { addCredit } from '#lib/control/operations/credit/operations';
import { grantCredit } from '#lib/control/operations/credit/promo';
import { setFeedback } from '#lib/control/operations/feedback/operations';
import { createManagementKey } from '#lib/control/operations/management-key/operations';
import { saveDraft } from '#lib/control/operations/policy/drafts';
import { createView } from '#lib/control/operations/view/operations';
import { createWebhook } from '#lib/control/operations/webhook/operations';
import { makeKey, test } from '#tests/console/home';
import { inDatabase, started } from '#tests/console/visit';
import { createKey, operate, setPolicy, setWorkspace } from '#tests/support/control/operate';

/** Strings that run, or become an element, if they are treated as markup, a script, a URL or a template. */
const corpus = [
  '"><img data-planted src=x onerror=planted=1>',
  '</script><script data-planted>planted=1</script>',
  '<svg/onload=planted=1 data-planted><!--',
  '</title></textarea></style><a data-planted href=javascript:planted=1>x',
  "'-(planted=1)-''+(planted=1)+'\\u003cimg data-planted src=x onerror=planted=1\\u003e",
  '{{constructor.constructor("planted=1")()}}<b data-planted>',
  '[x](javascript:planted=1) ![x](x"onerror="planted=1)<i data-planted>',
  '&lt;img data-planted src=x onerror=planted=1&gt;&#60;u data-planted&#62;',
];
const [worst = ''] = corpus;

const pages: Record<string, string> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../.next/app-path-routes-manifest.json'), 'utf8'),
);

test('markup and scripts typed into any field are shown as text on every page and never run', async ({
  page,
  home,
  db,
}) => {
  const workspace = home.slug;
  const key = await makeKey(db, home, worst);
  const others = await Promise.all(corpus.slice(1).map((name) => createKey(db, { workspace, name })));
  await operate(db, createManagementKey, { workspace, name: worst, role: 'viewer' });
  const reason = corpus[1];
  await operate(db, addCredit, { workspace, amount: '1', reason });
  await operate(db, grantCredit, { workspace, amount: '1', reason: worst, expiresAt: '2199-01-31' });
  await operate(db, createWebhook, { workspace, url: `https://nobody.invalid/?${worst}` });
  for (const view of ['logs', 'usage'])
    await operate(db, createView, { workspace, page: view, name: `${worst.slice(0, 90)} ${view}` });
  const aliases = Object.fromEntries(corpus.map((name) => [name.slice(0, 60), 'sandbox/echo']));
  for (const policy of [{ aliases }, { fallbackModels: ['sandbox/mini'] }])
    await setPolicy(db, { workspace, policy }).catch(() => undefined);
  await operate(db, saveDraft, {
    workspace,
    model: 'default',
    revision: 0,
    policy: { aliases, order: corpus },
  });
  // Resolved, so that it does not affect other tests.
  const incident = randomUUID();
  await inDatabase(
    `INSERT INTO incident (id, title, impact, affects, state, started_at, resolved_at)
     VALUES ('${incident}', $$${worst}$$, 'degraded', '{gateway}', 'resolved', now(), now())`,
    `INSERT INTO incident_update (id, incident_id, state, text)
     VALUES ('${randomUUID()}', '${incident}', 'resolved', $$${corpus[6]}$$)`,
    `UPDATE "user" SET name = $$${corpus[3]}$$ WHERE id = '${home.owner.id}'`,
    `UPDATE session SET user_agent = $$${worst}$$ WHERE user_id = '${home.owner.id}'`,
  );
  await setWorkspace(db, { workspace, name: worst });
  const ids: string[] = [];
  for (const text of corpus) {
    const answer = await fetch(`${started('URL')}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'user-agent': text },
      body: JSON.stringify({ model: text, user: text, metadata: { text }, messages: [] }),
    });
    ids.push(answer.headers.get('x-request-id') ?? '');
  }
  const told = { suspendedReason: worst, suspendedContact: corpus[6] ?? '' };
  await setWorkspace(db, { workspace, suspended: true, ...told });

  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => faults.push(dialog.message()));
  page.on('console', (said) => {
    if (said.type() === 'error' && /content security policy/i.test(said.text())) faults.push(said.text());
  });
  await expect(async () => {
    expect((await page.request.get(`/${workspace}/logs/${ids.at(-1)}`)).status()).toBe(200);
  }).toPass({ timeout: 120_000 });
  const [first = ''] = ids;
  await expect(async () => {
    await operate(db, setFeedback, { id: first, label: worst.slice(0, 64), text: corpus.join('\n') });
  }).toPass({ timeout: 120_000 });
  const inWorkspace = Object.entries(pages)
    .filter(([file, address]) => file.endsWith('/page') && address.startsWith('/[workspace]'))
    .map(([, address]) =>
      address
        .replace('[workspace]', workspace)
        .replace('[key]', others[0]?.id ?? '')
        .replace('[call]', ids[0] ?? '')
        .replace('[month]', new Date().toISOString().slice(0, 7))
        .replace('[...slug]', 'sandbox/echo'),
    );
  const query = encodeURIComponent(worst);
  const addresses = [
    ...inWorkspace,
    ...[
      '/account',
      '/status',
      `/${workspace}/keys?q=${query}`,
      `/${workspace}/logs?model=${query}&id=${query}`,
    ],
    ...[`/models?search=${query}`, `/sign-in?callbackUrl=${query}&error=${query}`, `/verify?token=${query}`],
  ];
  let shown = 0;
  for (const address of addresses) {
    await test.step(address, async () => {
      await page.goto(address);
      const found = await page.evaluate(() => ({
        elements: [
          ...document.querySelectorAll('[data-planted], [onerror], [onload], [href^="javascript:" i]'),
        ].map(({ outerHTML }) => outerHTML),
        ran: Reflect.get(window, 'planted') ?? null,
        asText: (document.body.textContent ?? '').includes('planted=1'),
      }));
      expect([address, found.elements, found.ran]).toEqual([address, [], null]);
      if (found.asText) shown += 1;
    });
  }
  expect(faults).toEqual([]);
  // At least the name of the workspace is on all of its pages.
  expect(shown).toBeGreaterThan(inWorkspace.length);
});
