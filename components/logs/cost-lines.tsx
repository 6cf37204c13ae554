interface CostRow {
  readonly name: string;
  /** null: it is a sum. */
  readonly amount: { readonly quantity: string; readonly unitPrice: string } | null;
  readonly cost: string;
  readonly exactCost: string;
}

interface CostLinesProps {
  rows: readonly CostRow[];
  total: string;
  exactTotal: string;
}

/** How the charge is calculated: quantity × unit price per line, then rounded up once. */
export function CostLines({ rows, total, exactTotal }: CostLinesProps) {
  return (
    <table className="w-full tabular-nums">
      <thead>
        <tr className="text-left text-muted text-xs">
          <th scope="col" className="px-4 pt-2.5 font-medium">
            Class
          </th>
          <th scope="col" className="px-2 pt-2.5 text-right font-medium">
            Quantity × unit price
          </th>
          <th scope="col" className="px-4 pt-2.5 text-right font-medium">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <td className="px-4 py-1.5">{row.name}</td>
            <td className="px-2 py-1.5 text-right">
              {row.amount ? (
                <>
                  {row.amount.quantity}{' '}
                  <span className="inline-block text-muted">
                    <span className="sm:whitespace-nowrap">× {row.amount.unitPrice}</span>
                  </span>
                </>
              ) : null}
            </td>
            <td
              className="px-4 py-1.5 text-right [overflow-wrap:anywhere] sm:whitespace-nowrap"
              title={`$${row.exactCost}`}
            >
              {row.cost}
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr className="font-semibold">
          <th scope="row" colSpan={2} className="border-t px-4 py-2 text-left">
            Charged
          </th>
          <td className="border-t px-4 py-2 text-right" title={`$${exactTotal}`}>
            {total}
          </td>
        </tr>
      </tfoot>
    </table>
  );
}
