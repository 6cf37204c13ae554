import { expect, it } from 'vitest';
import { roleMatrix } from '#lib/console/team/role-matrix';
import { operations } from '#lib/control/operations/operations';
import { may, roles } from '#lib/core/role';

it('the matrix of roles has every operation of a workspace on one line, with what its permission says', () => {
  const lines = roleMatrix(operations);
  const shown = lines.flatMap(({ operations: own }) => own).sort();
  const declared = operations.filter(({ permission, reach }) => permission !== null && reach !== 'gateway');
  const ofPeople = declared.filter(
    ({ permission }) => permission && roles.some((role) => may(role, permission)),
  );
  expect(shown).toEqual(ofPeople.map(({ summary }) => summary).sort());
  for (const { permission, allowed } of lines) {
    expect(allowed).toEqual(roles.map((role) => may(role, permission)));
    expect(allowed).toContain(true);
  }
});
