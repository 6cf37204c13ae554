import { expect, it } from 'vitest';
import { healthAfter, type OffersHealth } from '#components/routing/routing-actions';

const offer: OffersHealth['offers'][number] = {
  model: 'sandbox/mini',
  provider: 'sandbox',
  state: 'in service',
  until: null,
  firstByteMs: 3,
  wholeMs: 5,
  tokensPerSecond: 100,
  errorRate: 0,
  failures: 0,
};

it('the health of offers stays shown, as the last figures, while no gateway process answers', () => {
  const shown = healthAfter({ processes: 2, offers: [offer] }, { processes: 0, offers: [] });
  expect(shown).toEqual({ processes: 0, offers: [offer] });
});

it('the health of offers is that of the processes that answer, also when a restart has emptied it', () => {
  const shown = healthAfter({ processes: 0, offers: [offer] }, { processes: 1, offers: [] });
  expect(shown).toEqual({ processes: 1, offers: [] });
});
