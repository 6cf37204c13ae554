'use client';

import { useSearchParams } from 'next/navigation';
import { useEffect, useState } from 'react';
import { healthAfter, type OffersHealth, type RoutingActions } from '#components/routing/routing-actions';
import { Badge, type BadgeTone } from '#components/ui/badge';
import { SortHead } from '#components/ui/sort-head';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';
import { showSpan } from '#lib/console/show/time';
import { readSort, sortRows } from '#lib/console/sort';

type Offer = OffersHealth['offers'][number];

/** The page has other lists. */
const parameter = 'health';
const orders = {
  offer: ({ provider, model }: Offer) => `${provider} ${model}`,
  firstByte: ({ firstByteMs }: Offer) => firstByteMs,
  whole: ({ wholeMs }: Offer) => wholeMs,
  speed: ({ tokensPerSecond }: Offer) => tokensPerSecond,
  errors: ({ errorRate }: Offer) => errorRate,
};
const figures = [
  { by: 'firstByte', name: 'First byte', descendingFirst: false },
  { by: 'whole', name: 'Complete response', descendingFirst: false },
  { by: 'speed', name: 'Tokens/s', descendingFirst: true },
  { by: 'errors', name: 'Errors', descendingFirst: true },
] as const;

interface OfferHealthProps {
  workspace: string;
  first: OffersHealth;
  health: RoutingActions['health'];
}

const everyMs = 5_000;
const mostShown = 12;
const tones: Readonly<Record<Offer['state'], { tone: BadgeTone; text: string }>> = {
  'in service': { tone: 'good', text: 'In service' },
  'set aside': { tone: 'bad', text: 'Set aside' },
  probing: { tone: 'warn', text: 'Probing' },
};

/** The state of the offers that this machine has called, refreshed while the page is visible. */
export function OfferHealth({ workspace, first, health }: OfferHealthProps) {
  const [{ offers, processes }, setFound] = useState(first);
  const [lost, setLost] = useState(false);
  const [all, setAll] = useState(false);
  const sort = readSort(useSearchParams().get(parameter));

  useEffect(() => {
    let over = false;
    const look = async () => {
      if (document.visibilityState === 'visible') {
        const answer = await health(workspace, {}).catch(() => null);
        if (over) return;
        if (answer?.ok) setFound((shown) => healthAfter(shown, answer.value));
        setLost(!answer?.ok);
      }
      // One request at a time: saving on this page waits for all pending requests.
      timer = setTimeout(() => void look(), everyMs);
    };
    let timer = setTimeout(() => void look(), everyMs);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [workspace, health]);

  if (offers.length === 0) {
    return (
      <p className="rounded-lg border border-dashed bg-surface px-4 py-6 text-center text-muted leading-5">
        {processes === 0
          ? 'No gateway process on this machine answered.'
          : 'No offers have been called since the gateway started. Figures appear with the first calls.'}
      </p>
    );
  }
  const sorted = sortRows(offers, sort, orders);
  const shown = all ? sorted : sorted.slice(0, mostShown);
  return (
    <div className="grid gap-2">
      {processes === 0 || lost ? (
        <p role="status" className="text-warn text-xs leading-5">
          {lost ? 'Connection lost' : 'No gateway process on this machine answers'}: these are the last known
          figures.
        </p>
      ) : null}
      <Table label="Health of offers">
        <thead>
          <tr>
            <SortHead parameter={parameter} by="offer">
              Offer
            </SortHead>
            <HeadCell>State</HeadCell>
            {figures.map(({ by, name, descendingFirst }) => (
              <SortHead
                key={by}
                parameter={parameter}
                by={by}
                descendingFirst={descendingFirst}
                className="text-right"
              >
                {name}
              </SortHead>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((offer) => (
            <Row key={`${offer.provider} ${offer.model}`}>
              <Cell className="min-w-44" place="title">
                <span className="font-medium">{offer.provider}</span>
                <span className="block break-all font-mono text-muted text-xs">{offer.model}</span>
              </Cell>
              <Cell place="state">
                <Badge tone={tones[offer.state].tone} dot>
                  {tones[offer.state].text}
                </Badge>
                {offer.failures > 0 ? (
                  <span className="mt-1 block whitespace-nowrap text-muted text-xs">
                    {offer.failures === 1 ? '1 failure' : `${offer.failures} failures in a row`}
                  </span>
                ) : null}
              </Cell>
              <Cell label="First byte" className="text-right tabular-nums">
                {span(offer.firstByteMs)}
              </Cell>
              <Cell label="Complete response" className="text-right tabular-nums">
                {span(offer.wholeMs)}
              </Cell>
              <Cell label="Tokens/s" className="text-right tabular-nums">
                {offer.tokensPerSecond === null ? '–' : Math.round(offer.tokensPerSecond)}
              </Cell>
              <Cell label="Errors" place="figure" className="text-right tabular-nums">
                {Math.round(offer.errorRate * 100)}%
              </Cell>
            </Row>
          ))}
        </tbody>
      </Table>
      {offers.length > mostShown ? (
        <button
          type="button"
          className="justify-self-start text-accent-ink text-xs hover:underline"
          onClick={() => setAll(!all)}
        >
          {all ? `Show ${mostShown}` : `Show all ${offers.length}`}
        </button>
      ) : null}
    </div>
  );
}

const span = (ms: number | null) => (ms === null ? '–' : showSpan(ms));
