import { z } from 'zod';
import { withCustomer } from '#lib/control/billing/payments/customer';
import { create } from '#lib/control/operations/declare';
import { atStripe, paymentsOf } from '#lib/control/operations/top-up/page';

/** The page works for minutes and opens for anyone with its address, so the address is in no audit row. */
export const openPortal = create({
  name: 'billing.portal',
  summary: 'Opens Stripe’s page for cards, billing details and invoices; its url works for a few minutes.',
  reach: 'workspace',
  permission: 'billing:write',
  output: z.object({ url: z.string().describe('Address of the page, for immediate use.') }),
  http: [{ method: 'POST', path: '/workspaces/{workspace}/billing-portal' }],
  line: { arguments: ['workspace'] },
  text: ({ url }) => url,
  run: async ({ scope, payments }) => {
    paymentsOf(payments);
    return {
      result: { url: '' },
      subject: scope.workspaceId,
      before: null,
      after: { opened: true },
    };
  },
  follow: async ({ pool, scope, payments }) => {
    const configured = paymentsOf(payments);
    const return_url = `${configured.publicUrl}/${scope.slug}/billing`;
    const portal = await atStripe(() =>
      withCustomer(pool, configured, scope.workspaceId, (customer) =>
        configured.stripe.billingPortal.sessions.create({ customer, return_url }),
      ),
    );
    return { url: portal.url };
  },
});
