/** What statements are for, by words of their texts; the first that matches counts. */
const purposes: readonly (readonly [string, RegExp])[] = [
  ['the bench', /pg_stat_|pg_backend_pid|SET expires_at = now\(\) \+ interval \S+ WHERE expires_at/],
  ['begin, commit', /^\s*(BEGIN|COMMIT|ROLLBACK|SET|START|SAVEPOINT|RELEASE)\b/i],
  ['permits', /limit_(grant|slot|turn)|gateway\.now|pg_advisory_xact_lock\(hashtextextended/],
  ['held by leases', /WITH news AS/],
  [
    'leases',
    /AS funds|INSERT INTO lease|DELETE FROM lease|UPDATE lease SET granted_nano|^\s*SELECT \$1 FROM (workspace|api_key|owner)/,
  ],
  [
    'settlement',
    /INSERT INTO (call|usage_quarter|spend_minute|ledger_line|tag)\b|spent AS|journal_position|spent_nano|FROM lease l|UPDATE lease l|FROM workspace WHERE id = ANY|regtype/,
  ],
  ['change feed', /change_head|FROM change|^\s*SELECT \$1$|LISTEN/],
  ['jobs', /\bjob\b/],
  ['heartbeats', /owner/],
  ['keys, catalogue', /FROM api_key|price_version|FROM (model|provider|offer|policy)/],
  ['alerts, mail, views', /webhook|mail|fleet_duty|view|promo|low_balance|alert/],
];

/** @param text a statement as PostgreSQL normalised it. */
export function purposeOf(text: string): string {
  return purposes.find(([, words]) => words.test(text))?.[0] ?? 'other';
}
