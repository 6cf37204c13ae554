import { globSync, readdirSync, readFileSync } from 'node:fs';
import { type Token, walkTokens } from 'marked';
import { describe, expect, it } from 'vitest';
import { describedApi } from '#lib/console/guide/api';
import { errorsInMarkdown, listControlErrors, listErrors } from '#lib/console/guide/errors';
import { type HelpTopic, helpHref, helpPlaces } from '#lib/console/guide/help';
import { anchorOf, guideHref, guidePages } from '#lib/console/guide/pages';
import { navigationOf, readChangelog, readGuide } from '#lib/console/guide/read';
import { readSettings } from '#lib/console/guide/settings';
import { readSnippets, snippetsFor } from '#lib/console/guide/snippets';
import { toolTableInMarkdown } from '#lib/console/guide/tool-table';
import { webhookEventsInMarkdown } from '#lib/console/guide/webhook-events';
import { webhookEvents } from '#lib/control/alerts/events';
import { alertKinds } from '#lib/control/alerts/kinds';
import { readCatalogue } from '#lib/control/catalogue/files';
import { operations } from '#lib/control/operations/operations';
import { controlCodes } from '#lib/control/operations/refusal';
import { errorTable } from '#lib/core/errors';
import { settingsSchema } from '#lib/core/schemas/settings';

const pages = await readGuide('https://gateway.test');

function tokensOf(page: { readonly tokens: readonly Token[] }): Token[] {
  const all: Token[] = [];
  walkTokens([...page.tokens], (token) => {
    all.push(token);
  });
  return all;
}

/** Every place of the guide that a link may name. */
const anchors = new Set(
  pages.flatMap((page) => [
    `/docs/${page.slug}`,
    ...tokensOf(page).flatMap((token) =>
      token.type === 'heading' ? [`/docs/${page.slug}#${anchorOf(String(token.text))}`] : [],
    ),
  ]),
);

describe('the guide', () => {
  it('has a page for each file, and a file for each page', () => {
    const files = readdirSync('docs/guide').filter((name) => name.endsWith('.md'));
    expect(files.sort()).toEqual(guidePages.map(({ slug }) => `${slug}.md`).sort());
    for (const page of pages) expect(page.summary.length, page.slug).toBeGreaterThan(40);
  });

  it('has no broken link', () => {
    const others = new Set(['/models', '/api/v1/openapi.json'].map((path) => `https://gateway.test${path}`));
    const broken = pages.flatMap((page) =>
      tokensOf(page).flatMap((token) => {
        if (token.type !== 'link') return [];
        const href = guideHref(String(token.href));
        return href !== null && (anchors.has(href) || others.has(href))
          ? []
          : [`${page.slug}: ${token.href}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it('explains every page of the console, which links to it', () => {
    const missing = Object.keys(helpPlaces).filter((topic) => !anchors.has(helpHref(topic as HelpTopic)));
    expect(missing).toEqual([]);
    const files = globSync('app/(console)/**/*.tsx').filter((file) =>
      readFileSync(file, 'utf8').includes('<PageHead'),
    );
    expect(files.length).toBeGreaterThan(20);
    const heads = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/<PageHead\s(?:\s*)(\S+)/g)].map(([, first]) => [file, first]),
    );
    expect(heads.filter(([, first]) => !first?.startsWith('help='))).toEqual([]);
  });

  it('shows the changelog with its links, under the versions', async () => {
    const changelog = await readChangelog();
    expect(changelog.headings.map(({ text }) => text)).toContain('0.2.0');
    const links = tokensOf(changelog).flatMap((token) => (token.type === 'link' ? [String(token.href)] : []));
    const guide = links.filter((href) => href.startsWith('docs/guide/'));
    expect(guide.length).toBeGreaterThan(1);
    for (const href of guide) expect([...anchors], href).toContain(guideHref(href));
    expect(navigationOf(pages).at(-1)).toMatchObject({ slug: 'changelog' });
  });

  it('contains no HTML except the marks of generated parts', () => {
    const html = pages.flatMap((page) => tokensOf(page).filter(({ type }) => type === 'html'));
    expect(html.map(({ raw }) => raw.trim())).toEqual([
      '<!-- generated: tool-table -->',
      '<!-- end of tool-table -->',
      '<!-- generated: error-codes -->',
      '<!-- end of error-codes -->',
      '<!-- generated: control-codes -->',
      '<!-- end of control-codes -->',
      '<!-- generated: webhook-events -->',
      '<!-- end of webhook-events -->',
      '<!-- generated: api-overview -->',
      '<!-- generated: api-operations -->',
      '<!-- generated: settings -->',
    ]);
  });

  it('is linked from the README', () => {
    const readme = readFileSync('README.md', 'utf8');
    for (const { slug } of guidePages) expect(readme).toContain(`(docs/guide/${slug}.md`);
  });
});

describe('the generated parts of the guide', () => {
  it('the errors: every code with its status, none twice', () => {
    expect(new Map(listErrors().map(({ code, status }) => [code, status]))).toEqual(
      new Map(Object.entries(errorTable).map(([code, { status }]) => [code, status])),
    );
    const shown = [...listErrors(), ...listControlErrors()].map(({ code }) => code);
    expect(new Set(shown).size).toBe(shown.length);
    expect(shown).toEqual(expect.arrayContaining(Object.keys(controlCodes)));
  });

  it.each([
    ['errors', 'error-codes', () => errorsInMarkdown(listErrors())],
    ['errors', 'control-codes', () => errorsInMarkdown(listControlErrors())],
    ['webhooks', 'webhook-events', webhookEventsInMarkdown],
    ['tools', 'tool-table', async () => toolTableInMarkdown((await readCatalogue('catalogue')).models)],
  ])(
    '%s.md has its %s up to date in the repository: run this spec with -u after a change',
    async (page, name, make) => {
      const path = `docs/guide/${page}.md`;
      const [before, rest = ''] = readFileSync(path, 'utf8').split(`<!-- generated: ${name} -->\n`);
      const behind = rest.split(`<!-- end of ${name} -->\n`)[1];
      const made = `${before}<!-- generated: ${name} -->\n\n${await make()}\n<!-- end of ${name} -->\n${behind}`;
      await expect(made).toMatchFileSnapshot(`../../../../${path}`);
    },
  );

  it('the webhook events: every example matches the event’s declaration', () => {
    for (const [type, { data, example }] of Object.entries(webhookEvents)) {
      expect(data.strict().safeParse(example).success, type).toBe(true);
    }
    expect(Object.keys(webhookEvents)).toEqual([...alertKinds.map((kind) => `alert.${kind}`), 'test']);
  });

  it('the settings: every declared one', async () => {
    const [table] = await readSettings();
    const missing = Object.keys(settingsSchema.shape).filter((name) => !table?.raw.includes(`\`${name}\``));
    expect(missing).toEqual([]);
    // The table stands in the contract, and its link beside the guide's pages.
    expect(table?.raw).toContain('](../guide/telemetry.md)');
    expect(guideHref('../guide/telemetry.md')).toBe('/docs/telemetry');
  });

  it('the management API: every address with its input', () => {
    const { groups } = describedApi();
    const shown = groups.flatMap((group) => group.operations.map(({ method, path }) => `${method} ${path}`));
    const declared = operations.flatMap(({ http }) =>
      http.map(({ method, path }) => `${method} /api/v1${path}`),
    );
    expect(shown.sort()).toEqual([...declared, 'GET /api/v1/openapi.json'].sort());
    const creates = groups.flatMap((group) => group.operations).find(({ id }) => id === 'keyCreate');
    expect(creates?.takes.find(({ name }) => name === 'name')).toMatchObject({
      place: 'body',
      required: true,
      type: 'string',
    });
  });
});

describe('the examples', () => {
  it('have the address of this gateway and the requested model', async () => {
    const snippets = await readSnippets('https://gateway.test');
    for (const { code, model } of snippets) {
      expect(code).toContain('https://gateway.test');
      expect(code).toContain(model);
      expect(code).not.toContain('localhost');
    }
    const shown = snippetsFor(snippets, 'acme/large', ['chat', 'messages']);
    expect(shown.map(({ label }) => label)).toEqual([
      'curl',
      'OpenAI, Python',
      'OpenAI, JavaScript',
      'Anthropic, Python',
      'Anthropic, JavaScript',
      'AI SDK',
    ]);
    for (const { code } of shown) expect(code).toContain('acme/large');
  });

  it('name models of the catalogue that support their protocol', async () => {
    const { models } = await readCatalogue('catalogue');
    for (const { model, family, name } of await readSnippets('https://gateway.test')) {
      const offers = models.find(({ id }) => id === model)?.offers ?? [];
      expect(
        offers.some(({ families }) => families.some((one) => one === family)),
        `${name}: ${model}`,
      ).toBe(true);
    }
  });
});
