import { Check } from 'lucide-react';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { RoleLine } from '#lib/console/team/role-matrix';

/** What each role may do, from the declarations that every request is checked against. */
export function RoleMatrix({ roles, lines }: { roles: readonly string[]; lines: readonly RoleLine[] }) {
  return (
    <Table label="What each role can do" matrix>
      <thead>
        <tr>
          <HeadCell className="min-w-60">Permission</HeadCell>
          {roles.map((role) => (
            <HeadCell key={role} className="w-24 text-center capitalize">
              {role}
            </HeadCell>
          ))}
        </tr>
      </thead>
      <tbody>
        {lines.map(({ permission, deed, allowed, operations }) => (
          <Row key={permission}>
            <Cell heading className="py-2">
              {operations.length > 0 ? (
                <details className="group">
                  <summary className="cursor-pointer rounded-sm decoration-line-strong decoration-dotted underline-offset-4 hover:underline">
                    {deed}
                  </summary>
                  <ul className="mt-1 mb-1 ml-4 grid max-w-lg list-disc gap-0.5 text-muted text-xs leading-5">
                    {operations.map((summary) => (
                      <li key={summary}>{summary}</li>
                    ))}
                  </ul>
                </details>
              ) : (
                <span className="ml-4">{deed}</span>
              )}
            </Cell>
            {roles.map((role, at) => (
              <Cell key={role} className="py-2 text-center align-top">
                {allowed[at] ? (
                  <>
                    <Check aria-hidden className="mx-auto size-4 text-good" />
                    <span className="sr-only">yes</span>
                  </>
                ) : (
                  <>
                    <span aria-hidden className="text-muted">
                      –
                    </span>
                    <span className="sr-only">no</span>
                  </>
                )}
              </Cell>
            ))}
          </Row>
        ))}
      </tbody>
    </Table>
  );
}
