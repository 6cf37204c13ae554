import { describe, expect, it } from 'vitest';
import { operations } from '#lib/control/operations/operations';
import { checkPermission } from '#lib/control/operations/reach';
import { may, roles } from '#lib/core/role';

const suspended = { scope: null, suspended: true };
const guarded = operations.filter(({ permission, reach }) => permission !== null && reach !== 'gateway');

describe('a suspended workspace (contract: control-plane/suspended)', () => {
  it('is read by its members and changed by operators alone', () => {
    expect(guarded.length).toBeGreaterThan(50);
    for (const operation of guarded) {
      const { name, permission, kind } = operation;
      for (const role of roles.filter((one) => permission !== null && may(one, permission))) {
        const check = () => checkPermission({ ...suspended, role }, operation);
        if (kind === 'read') expect(check, `${name} as ${role}`).not.toThrow();
        else expect(check, `${name} as ${role}`).toThrow(/is suspended/);
      }
      expect(() => checkPermission({ ...suspended, role: 'operator' }, operation), name).not.toThrow();
    }
  });
});

it('no operation changes the mail address of an account (contract: control-plane/not-built)', () => {
  const named = operations.filter(
    ({ kind, reach, fields }) =>
      kind === 'change' && reach === 'self' && Object.values(fields).some((field) => field.kind === 'email'),
  );
  // The address that a provider says, kept beside its account.
  expect(named.map(({ name }) => name)).toEqual(['user.link']);
});
