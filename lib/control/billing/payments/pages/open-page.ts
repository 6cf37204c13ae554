import type { Payments } from '#lib/control/billing/payments/client';

/** An order as its page at Stripe needs it. */
export interface CheckoutOrder {
  readonly id: string;
  readonly workspaceId: string;
  readonly slug: string;
  readonly cents: number;
  readonly feeCents: number;
  /** Stripe's customer of the workspace. */
  readonly customer: string;
  /** Whether the customer takes the place of one that was gone when the page was first asked for. */
  readonly replaced: boolean;
  /** Whether the card is kept for automatic top-ups. */
  readonly saveCard: boolean;
}

/** What customers who save a card agree to, shown next to the pay button. */
const consent =
  'Your card will be saved. If automatic top-ups are on, it is charged automatically when the balance falls to the threshold that you set, up to your monthly cap. You can turn them off and remove the card at any time.';

/**
 * Makes the page at Stripe on which an order is paid. However often it is asked for an order, Stripe makes one.
 * @throws Error of Stripe's client.
 */
export async function openCheckout(
  { stripe, publicUrl }: Payments,
  order: CheckoutOrder,
): Promise<{ id: string; url: string }> {
  const { id, workspaceId, slug, cents, feeCents, customer, replaced, saveCard } = order;
  const metadata = { order: id, workspace: workspaceId, cents: String(cents) };
  const back = `${publicUrl}/${slug}/billing?top-up=${id}`;
  const session = await stripe.checkout.sessions.create(
    {
      mode: 'payment',
      client_reference_id: id,
      metadata,
      payment_intent_data: { metadata, ...(saveCard ? { setup_future_usage: 'off_session' } : {}) },
      ...(saveCard ? { custom_text: { submit: { message: consent } } } : {}),
      line_items: [
        item('Model Gateway credit', cents),
        ...(feeCents > 0 ? [item('Processing fee', feeCents)] : []),
      ],
      customer,
      invoice_creation: { enabled: true, invoice_data: { metadata } },
      success_url: back,
      cancel_url: `${back}&canceled=true`,
    },
    { idempotencyKey: ['top-up', id, ...(replaced ? [customer] : [])].join(':') },
  );
  if (!session.url) throw new Error(`Stripe returned no checkout page for order ${id}`);
  return { id: session.id, url: session.url };
}

function item(name: string, cents: number) {
  return { quantity: 1, price_data: { currency: 'usd', unit_amount: cents, product_data: { name } } };
}
