import { describe, expect, it } from 'vitest';
import { auditSentence } from '#lib/console/show/audit-sentence';
import { operations } from '#lib/control/operations/operations';

const told = (
  action: string,
  before: Record<string, unknown> | null,
  after: Record<string, unknown> | null,
  called: string | null = null,
) => auditSentence({ action, before, after, called });

/** Changes of somebody's own account, which no log of a workspace lists. */
const ofOnlyOnePerson =
  /^(session\..*|user\.(verify|request-.*|reset|rename|change-password|link|unlink|first-operator))$/;

describe('an audit row in words', () => {
  it('names the key and what was changed of it, money with its sign', () => {
    expect(told('key.set', { dailyCap: '5', rpm: null }, { dailyCap: '8', rpm: 77 }, 'web')).toBe(
      'changed the key “web”: Per day $5.00 → $8.00, Requests a minute none → 77',
    );
    expect(told('key.create', null, { name: 'new', rpm: null })).toBe('created the key “new”');
    expect(told('key.revoke', { status: 'active' }, { status: 'revoked' }, 'web')).toBe(
      'revoked the key “web”',
    );
  });

  it('says of a policy which version and what it changed', () => {
    const after = { policy: { fallbackModels: ['sandbox/mini'] }, model: 'default', version: 1 };
    expect(told('policy.publish', { policy: {} }, after)).toBe(
      'published version 1 of the default policy: Fallback models: added sandbox/mini as number 2',
    );
    const stored = { policy: {}, model: '', version: 2 };
    expect(told('policy.publish', { policy: {} }, stored)).toBe('published version 2 of the default policy');
    expect(told('policy.discard', { draft: {} }, { draft: {}, model: 'a/b' })).toBe(
      'discarded the draft of the policy of a/b',
    );
  });

  it('says why a workspace was suspended, and how much was added by hand', () => {
    expect(told('workspace.set', { suspended: false }, { suspended: true, suspendedReason: 'Unpaid' })).toBe(
      'suspended this workspace: Unpaid',
    );
    expect(told('workspace.set', { suspended: true }, { suspended: false })).toBe('resumed this workspace');
    expect(told('credit.add', null, { amount: '-20', reason: 'Refund', balance: '4' })).toBe(
      'subtracted $20.00 from the balance: Refund',
    );
    expect(told('workspace.set', { rpm: 600 }, { rpm: 1200 })).toBe(
      'changed the workspace: Requests a minute 600 → 1,200',
    );
  });

  it('has a sentence for each change that the log of a workspace can list', () => {
    const changes = operations.filter(({ kind, reach }) => kind !== 'read' && reach !== 'gateway');
    const listed = changes.filter(({ name }) => !ofOnlyOnePerson.test(name));
    const without = listed.filter(({ name }) => told(name, null, null, 'it').startsWith('ran '));
    expect(without.map(({ name }) => name)).toEqual([]);
    expect(told('invitation.link', null, null, 'zoe@example.com')).toBe(
      'made a link to pass on for the invitation of zoe@example.com',
    );
  });

  it('keeps the address of people, and says of what is gone that it is', () => {
    expect(told('member.set', { role: 'viewer' }, { role: 'admin' }, 'ann@example.com')).toBe(
      'changed the role of ann@example.com from viewer to admin',
    );
    expect(told('webhook.set', { enabled: true }, { enabled: false })).toBe(
      'switched the webhook that was deleted since off',
    );
    expect(told('catalogue.apply', {}, {})).toBe('ran catalogue.apply');
  });
});
