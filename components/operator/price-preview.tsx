'use client';

import { useId, useState, useTransition } from 'react';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { useTyped } from '#components/form/use-typed';
import { SetPrice } from '#components/operator/set-price';
import { TriedPriceFigures } from '#components/operator/tried-price';
import { Section } from '#components/section';
import { Button } from '#components/ui/button';
import { NativeSelect } from '#components/ui/native-select';
import type { TriedPrice } from '#lib/console/gateway/price-effect';

interface PricePreviewProps {
  model: string;
  /** With the price in force, in the format of catalogue files. */
  offers: readonly { readonly provider: string; readonly version: string; readonly price: string }[];
  preview(input: object): Promise<FormAnswer<TriedPrice & { readonly price: string }>>;
  set(input: object): Promise<FormAnswer<unknown>>;
}

/** Previews another price on last week's calls, and sets it. */
export function PricePreview({ model, offers, preview, set }: PricePreviewProps) {
  const [provider, choose] = useState(offers[0]?.provider ?? '');
  const [text, setText, box] = useTyped<HTMLTextAreaElement>(offers[0]?.price ?? '');
  const [answer, setAnswer] = useState<Awaited<ReturnType<typeof preview>> | null>(null);
  /** The price that was previewed, as typed. */
  const [tried, setTried] = useState('');
  const [pending, startTransition] = useTransition();
  const id = useId();

  function submit(data: FormData) {
    const price = String(data.get('price') ?? '');
    startTransition(async () => {
      setAnswer(await orNoAnswer(preview({ model, provider, price })));
      setTried(price);
    });
  }

  return (
    <Section title="Try another price" note="Nothing changes until you set the price">
      <Form onSend={submit} className="grid gap-3 px-4 py-4">
        {offers.length > 1 ? (
          <NativeSelect
            label="Provider"
            className="max-w-60"
            value={provider}
            options={offers.map((offer) => ({ value: offer.provider, label: offer.provider }))}
            onChange={(chosen) => {
              choose(chosen);
              setText(offers.find((offer) => offer.provider === chosen)?.price ?? '');
              setAnswer(null);
            }}
          />
        ) : null}
        <label htmlFor={id} className="font-medium text-[0.8125rem]">
          Price at {provider}, in catalogue file format
        </label>
        <textarea
          id={id}
          ref={box}
          name="price"
          rows={Math.min(14, Math.max(5, text.split('\n').length))}
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAnswer(null);
          }}
          className="w-full resize-y rounded-md border border-line-strong/70 bg-surface px-3 py-2 font-mono text-xs leading-5"
        />
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
