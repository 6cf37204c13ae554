import type { Settings } from '#lib/core/schemas/settings';

/** Problems between settings that are each valid. */
export function problemsOf(settings: Settings): string[] {
  const problems: string[] = [];
  const together = (one: keyof Settings, other: keyof Settings) => {
    if (settings[one] !== undefined && settings[other] === undefined) {
      problems.push(`${other}: required with ${one}. Set both, or neither.`);
    }
  };
  together('GITHUB_ID', 'GITHUB_SECRET');
  together('GITHUB_SECRET', 'GITHUB_ID');
  together('GOOGLE_ID', 'GOOGLE_SECRET');
  together('GOOGLE_SECRET', 'GOOGLE_ID');
  together('UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN');
  together('UPSTASH_REDIS_REST_TOKEN', 'UPSTASH_REDIS_REST_URL');
  together('STRIPE_WEBHOOK_SECRET', 'STRIPE_SECRET_KEY');
  if (settings.REDIS_URL && settings.UPSTASH_REDIS_REST_URL) {
    problems.push('REDIS_URL: set this or UPSTASH_REDIS_REST_URL, not both.');
  }
  if (settings.STRIPE_API_BASE && /^[rs]k_live_/.test(settings.STRIPE_SECRET_KEY ?? '')) {
    problems.push(
      'STRIPE_API_BASE: a live key is never sent to a stand-in. Unset it, or use a test key (sk_test_…).',
    );
  }
  const { DATABASE_URL, STRIPE_SECRET_KEY, SANDBOX } = settings;
  if (settings.PLAY_MONEY && (DATABASE_URL || STRIPE_SECRET_KEY || SANDBOX === false)) {
    problems.push(
      'PLAY_MONEY: requires the embedded database and the simulated provider, without STRIPE_SECRET_KEY. Unset PLAY_MONEY, or the settings that conflict with it.',
    );
  }
  if (settings.SETTLEMENT === 'database' && settings.DATABASE_URL === undefined) {
    problems.push(
      'SETTLEMENT: "database" requires PostgreSQL. Set DATABASE_URL, or unset SETTLEMENT: the embedded database settles by journal.',
    );
  }
  if (settings.DATABASE_AWAY_MINUTES > 0 && settings.DATABASE_AWAY_USD === 0n) {
    problems.push(
      'DATABASE_AWAY_USD: required with DATABASE_AWAY_MINUTES. Set how many dollars of calls all processes together may admit without the database, such as 100.',
    );
  }
  if (settings.DATABASE_AWAY_MINUTES > 0 && settings.SETTLEMENT === 'database') {
    problems.push('DATABASE_AWAY_MINUTES: requires the journal. Unset it, or unset SETTLEMENT=database.');
  }
  if (settings.LANE === 'web' && settings.CONSOLE === false) {
    problems.push('CONSOLE: LANE=web needs the console. Unset CONSOLE or LANE.');
  }
  return problems;
}
