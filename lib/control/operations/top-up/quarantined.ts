import { z } from 'zod';

/** A payment at Stripe that does not match an order and was not credited. */
export const quarantinedPayment = z.object({
  event: z.string(),
  why: z.string(),
  payment: z.string().nullable(),
  topUp: z.string().nullable(),
  at: z.iso.datetime(),
});
