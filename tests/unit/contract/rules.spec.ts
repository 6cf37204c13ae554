import { describe, expect, it } from 'vitest';
import {
  ambiguousAnchors,
  brokenLinks,
  citedElsewhere,
  citedIn,
  readRules,
  readTexts,
} from '#tests/unit/contract/rules';

const pages = readRules();
const rules = [...pages].flatMap(([page, names]) => names.map((name) => `${page}/${name}`));
const self = /unit.contract.rules(\.spec)?\.ts$/;
const files = readTexts(['.ts', '.tsx', '.mjs', '.md', '.yaml', '.sql', '.prisma', '.css', 'bin/gateway'])
  // These show how a citation is written.
  .filter(({ path }) => !self.test(path) && path !== 'docs/contract/README.md');
const markdown = readTexts(['.md']);

describe('the pages of the contract', () => {
  it('give every rule a name of its own, in lower case with hyphens', () => {
    expect(rules.length).toBeGreaterThan(100);
    expect(rules.filter((name) => !/^[a-z-]+\/[a-z0-9]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
    const ofContract = markdown.filter(({ path }) => path.startsWith('docs/contract/'));
    expect(ofContract.flatMap(({ text }) => ambiguousAnchors(text))).toEqual([]);
  });

  it('are listed on their first page', () => {
    const first = markdown.find(({ path }) => path === 'docs/contract/README.md')?.text ?? '';
    expect([...pages.keys()].filter((page) => !first.includes(`| [${page}](${page}.md) |`))).toEqual([]);
  });

  it('lead to headings that are there, as all pages of the project do', () => {
    const broken = markdown.flatMap((file) => brokenLinks(file).map((link) => `${file.path}: ${link}`));
    expect(broken).toEqual([]);
  });
});

describe('citations', () => {
  it('name a rule of the contract', () => {
    const known = new Set(rules);
    const unknown = files.flatMap(({ path, text }) =>
      citedIn(text)
        .filter((cited) => !known.has(cited))
        .map((cited) => `${path}: ${cited}`),
    );
    expect(unknown).toEqual([]);
  });

  it('name no page that is not in the repository', () => {
    const elsewhere = files
      .filter(({ path }) => !path.startsWith('docs/contract/'))
      .flatMap(({ path, text }) => citedElsewhere(text).map((cited) => `${path}: ${cited}`));
    expect(elsewhere).toEqual([]);
  });

  it('are found where they are wrong', () => {
    expect(citedIn('(contract: money/hold)')).toEqual(['money/hold']);
    expect(citedIn('(contract: money/hold, limits/rpm) and\n(contract: money/strict)')).toEqual([
      'money/hold',
      'limits/rpm',
      'money/strict',
    ]);
    expect(citedIn('(contract: money)')).toEqual(['(contract: money)']);
    expect(citedIn('contract: money/hold')).toEqual(['contract: money/hold']);
    expect(citedElsewhere('as decisions §6 says, operations.md "Environment", §3.2')).toHaveLength(3);
    expect(citedElsewhere('docs/architecture.md, RFC 9110 §15.5.6')).toEqual([]);
    expect(brokenLinks({ path: 'README.md', text: '[a](docs/contract/money.md#no-such-rule)' })).toHaveLength(
      1,
    );
  });
});
