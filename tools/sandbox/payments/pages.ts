import type { Account } from '#tools/sandbox/payments/account';
import type { PortalSession, Session } from '#tools/sandbox/payments/objects';

/** A page to show, or where to go next. */
export type Page = { readonly html: string } | { readonly location: string } | null;

/** The pages for paying and for managing cards. @returns null: there is no such page. */
export function page(account: Account, method: string, path: string, body: string): Page {
  const [, kind, id = ''] = /^\/(pay|portal|receipts|invoices)\/([\w-]+)(?:\/pdf)?$/.exec(path) ?? [];
  const how = method === 'POST' ? new URLSearchParams(body).get('how') : null;
  const session = kind === 'pay' ? account.sessions.get(id) : undefined;
  if (session) return how === null ? payPage(account, session) : { location: paid(account, session, how) };
  const portal = kind === 'portal' ? account.portals.get(id) : undefined;
  if (portal) {
    if (how !== null) changeCards(account, portal, how);
    return portalPage(account, portal);
  }
  if (kind === 'receipts' || kind === 'invoices') return receiptPage(account, kind, id);
  return null;
}

/** @returns where the browser goes next. */
function paid(account: Account, session: Session, how: string): string {
  if (session.status === 'open') {
    if (how === 'pay') account.pay(session);
    if (how === 'authenticate') account.pay(session, 'asks');
    if (how === 'decline') {
      account.decline(session);
      return `/pay/${session.id}?declined`;
    }
  }
  return how === 'cancel' ? session.cancel_url : session.success_url;
}

function payPage(account: Account, session: Session): Page {
  if (session.status !== 'open')
    return { html: html('Test payment', '<p>This page has expired or was already used.</p>') };
  const intent = account.intents.get(session.payment_intent ?? '');
  const saves = intent?.setup_future_usage
    ? '<p>Your card is saved and can be charged later without you, as you agreed.</p>'
    : '';
  const refused = intent?.last_payment_error
    ? `<p role="alert">${intent.last_payment_error.message}</p>`
    : '';
  return {
    html: html(
      `Test payment of ${dollars(session.amount_total)}`,
      `${refused}${saves}<form method="post">${[
        button('pay', 'Pay'),
        button('authenticate', 'Pay with 3-D Secure'),
        button('decline', 'Decline'),
        button('cancel', 'Cancel'),
      ].join('\n')}</form>`,
    ),
  };
}

function changeCards(account: Account, { customer }: PortalSession, how: string): void {
  if (how === 'remove') for (const card of account.cardsOf(customer)) account.removeCard(card);
  if (how !== 'pays' && how !== 'declines' && how !== 'asks') return;
  const owner = account.customers.get(customer);
  const card = account.addCard(customer, how);
  if (!owner) return;
  owner.default_payment_method = card.id;
  account.emit('customer.updated', owner);
}

function portalPage(account: Account, portal: PortalSession): Page {
  const cards = account.cardsOf(portal.customer).map(({ last4 }) => `<li>Visa •••• ${last4}</li>`);
  const list = cards.length > 0 ? `<ul>${cards.join('')}</ul>` : '<p>No saved cards</p>';
  const back = portal.return_url ? `<p><a href="${escaped(portal.return_url)}">Back</a></p>` : '';
  const buttons = [
    button('pays', 'Add a card that pays'),
    button('declines', 'Add a card that is declined'),
    button('asks', 'Add a card that needs 3-D Secure'),
    button('remove', 'Remove all cards'),
  ];
  return { html: html('Test cards', `${list}<form method="post">${buttons.join('\n')}</form>${back}`) };
}

function receiptPage(account: Account, kind: 'receipts' | 'invoices', id: string): Page {
  const charge = [...account.charges.values()].find(({ receipt_url }) =>
    receipt_url.endsWith(`/receipts/${id}`),
  );
  const cents = kind === 'receipts' ? charge?.amount : account.invoices.get(id)?.amount_paid;
  if (cents === undefined) return null;
  const title = kind === 'receipts' ? 'Test receipt' : 'Test invoice';
  return { html: html(title, `<p>${dollars(cents)} of simulated money</p>`) };
}

function html(title: string, content: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:30rem;margin:10vh auto;padding:0 1rem}
form{display:grid;gap:.5rem}button{font:inherit;padding:.6rem;border-radius:.5rem}
mark{display:block;padding:.5rem .75rem;border-radius:.5rem}</style></head>
<body><mark>Test payment: no card is charged, and no real money moves.</mark><main><h1>${title}</h1>
${content}</main></body></html>`;
}

function button(how: string, label: string): string {
  return `<button name="how" value="${how}">${label}</button>`;
}

function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}
