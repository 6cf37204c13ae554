'use client';

import { useState, useTransition } from 'react';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { SetPrice } from '#components/operator/set-price';
import { TriedPriceFigures } from '#components/operator/tried-price';
import { Section } from '#components/section';
import { Button } from '#components/ui/button';
import { Field } from '#components/ui/field';
import { NativeSelect } from '#components/ui/native-select';
import type { TriedPrice } from '#lib/console/gateway/price-effect';
import { type FormPrice, missingRates, priceLines, priceTyped } from '#lib/console/gateway/price-form';

interface PricePreviewProps {
  model: string;
  /** With the price in force, in the format of catalogue files. */
  offers: readonly { readonly provider: string; readonly version: string; readonly price: FormPrice }[];
  preview(input: object): Promise<FormAnswer<TriedPrice & { readonly price: string }>>;
  set(input: object): Promise<FormAnswer<unknown>>;
}

/** Previews another price on last week's calls, and sets it. */
export function PricePreview({ model, offers, preview, set }: PricePreviewProps) {
  const [provider, choose] = useState(offers[0]?.provider ?? '');
  const offer = offers.find((one) => one.provider === provider);
  const [added, add] = useState<readonly string[]>([]);
  const [answer, setAnswer] = useState<Awaited<ReturnType<typeof preview>> | null>(null);
  /** The price that was previewed, as JSON. */
  const [tried, setTried] = useState('');
  const [pending, startTransition] = useTransition();
  const shown = { ...offer?.price, ...Object.fromEntries(added.map((name) => [name, ''])) };
  const groups = Map.groupBy(priceLines(shown), ({ group }) => group);

  function submit(data: FormData) {
    const typed = Object.fromEntries(
      [...data].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    );
    const price = JSON.stringify(priceTyped(shown, typed));
    startTransition(async () => {
      setAnswer(await orNoAnswer(preview({ model, provider, price })));
      setTried(price);
    });
  }

  return (
    <Section title="Try another price" note="Nothing changes until you set the price">
      <Form onSend={submit} className="grid gap-4 px-4 py-4">
        {offers.length > 1 ? (
          <NativeSelect
            label="Provider"
            className="max-w-60"
            value={provider}
            options={offers.map((one) => ({ value: one.provider, label: one.provider }))}
            onChange={(chosen) => {
              choose(chosen);
              add([]);
              setAnswer(null);
            }}
          />
        ) : null}
        {[...groups].map(([group, lines]) => (
          <fieldset key={`${provider} ${group}`} className="grid gap-2">
            <legend className="mb-2 font-medium text-[0.8125rem]">
              {group === '' ? `Price at ${provider}` : group}{' '}
              <span className="font-normal text-muted">in dollars per million tokens, or for one</span>
            </legend>
            <div className="grid items-start gap-3 sm:grid-cols-2 lg:grid-cols-3">
              {lines.map(({ name, label, unit, usd }) => (
                <Field
                  key={name}
                  label={unit === 'each' ? `${label}, each` : label}
                  name={name}
                  prefix="$"
                  inputMode="decimal"
                  autoComplete="off"
                  placeholder="no rate"
                  defaultValue={usd}
                  onValueChange={() => setAnswer(null)}
                />
              ))}
            </div>
          </fieldset>
        ))}
        <div className="flex flex-wrap items-center gap-3">
          <NativeSelect
            label="Add a rate"
            className="w-56"
            value=""
            options={[{ value: '', label: 'Add a rate…' }, ...missingRates(shown)]}
            onChange={(name) => {
              if (name !== '') add([...added, name]);
            }}
          />
          <p className="text-muted text-xs leading-5">
            An empty rate costs what its parent costs. Tiers and sizes are added with a catalogue file.
          </p>
        </div>
        <div>
          <Button type="submit" tone="primary" disabled={pending}>
            {pending ? 'Calculating…' : 'Preview'}
          </Button>
        </div>
        <div aria-live="polite" className="grid empty:hidden">
          {answer === null ? null : answer.ok ? (
            <div className="rounded-lg border bg-sunken/60 px-4 py-3">
              <TriedPriceFigures effect={answer.value} />
            </div>
          ) : (
            <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad leading-5">
              {answer.message}
            </p>
          )}
        </div>
      </Form>
      {answer?.ok ? (
        <div className="border-t px-4 py-4">
          <SetPrice
            model={model}
            provider={provider}
            replaces={offers.find((offer) => offer.provider === provider)?.version ?? ''}
            price={tried}
            words={answer.value.price}
            set={set}
          />
        </div>
      ) : null}
    </Section>
  );
}
