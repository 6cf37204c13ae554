import { bounds } from '#lib/core/metering/histogram';

/** The bucket of a duration in ms, as an expression of SQL. */
export function histogramPartSql(ms: string): string {
  return `width_bucket(${ms}, '{${bounds.join(',')}}'::int[])`;
}

/**
 * The histograms of a column of such buckets, as a query of `bucket`, `value` and the column.
 * @param table has these three.
 */
export function histogramSql(table: string, column: string): string {
  return `SELECT bucket, value, sum(n * ('1e' || 12 * ${column})::numeric) AS ${column}
    FROM (SELECT bucket, value, ${column}, count(*) AS n FROM ${table} WHERE ${column} IS NOT NULL GROUP BY 1, 2, 3) AS counted
    GROUP BY 1, 2`;
}
