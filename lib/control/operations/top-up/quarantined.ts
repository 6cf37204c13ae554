import { z } from 'zod';

/** A payment at Stripe that is not what was ordered, and was not credited. */
export const quarantinedPayment = z.object({
  event: z.string(),
  why: z.string(),
  payment: z.string().nullable(),
  topUp: z.string().nullable(),
  at: z.iso.datetime(),
});
