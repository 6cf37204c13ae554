import { Gauge, type Registry } from 'prom-client';
import type { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import type { CredentialStatus, OfferStatus } from '#lib/gateway/metrics/offers';
import type { OfferState } from '#lib/gateway/routing/health';
import { registerCounter } from '#lib/programs/metrics/counter';

const states: readonly OfferState[] = ['in service', 'set aside', 'probing'];

/** Registers the state of offers. Their labels come from the catalogue, so the operator bounds them. */
export function registerOffers(registry: Registry, listOffers: () => readonly OfferStatus[]): void {
  const gauge = (name: string, help: string, more: readonly string[] = [], collect?: () => void) =>
    new Gauge({
      name: `gateway_offer_${name}`,
      help,
      labelNames: ['model', 'provider', ...more],
      registers: [registry],
      ...(collect && { collect }),
    });
  // The first one fills them all, so that each scrape lists the offers once.
  const state = gauge('state', '1 for the current state of the offer, 0 for the others.', ['state'], fill);
  const backIn = gauge('back_in_seconds', 'Time until the offer is no longer set aside.');
  const errors = gauge('error_ratio', 'Smoothed share of attempts that failed, 0 to 1.');
  const firstByte = gauge(
    'first_byte_seconds',
    'Smoothed time to the first byte, separately for streams and whole answers.',
    ['answer'],
  );
  const speed = gauge('output_tokens_per_second', 'Smoothed speed of output.');
  const running = gauge('attempts_running', 'Attempts running now.');

  function fill(): void {
    for (const one of [state, backIn, errors, firstByte, speed, running]) one.reset();
    for (const offer of listOffers()) {
      const { model, provider } = offer;
      const labels = { model, provider };
      for (const name of states) state.set({ ...labels, state: name }, name === offer.state ? 1 : 0);
      backIn.set(labels, offer.backInSeconds);
      errors.set(labels, offer.errorRate);
      running.set(labels, offer.running);
      const { streamFirstByteMs, wholeMs, tokensPerSecond } = offer;
      if (streamFirstByteMs !== null)
        firstByte.set({ ...labels, answer: 'stream' }, streamFirstByteMs / 1000);
      if (wholeMs !== null) firstByte.set({ ...labels, answer: 'whole' }, wholeMs / 1000);
      if (tokensPerSecond !== null) speed.set(labels, tokensPerSecond);
    }
  }
}

/** Registers the state of credentials, by their names. */
export function registerCredentials(registry: Registry, list: () => readonly CredentialStatus[]): void {
  new Gauge({
    name: 'gateway_credential_refused',
    help: '1 if the provider refuses the credential (401 or 402), 0 if not.',
    labelNames: ['provider', 'credential'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { refused, ...labels } of list()) this.set(labels, refused ? 1 : 0);
    },
  });
}

/** Registers the errors of offers (contract: routing/faults-shown). */
export function registerOfferFaults(registry: Registry, faults: OfferFaults): void {
  registerCounter(registry, {
    name: 'gateway_offer_faults_total',
    help: 'Provider errors that are not caused by clients, by kind.',
    labelNames: ['model', 'provider', 'credential', 'kind'],
    read: () =>
      faults
        .counts()
        .map(({ model, provider, credential, kind, count }) => [
          { model, provider, credential, kind },
          count,
        ]),
  });
}
