import { z } from 'zod';

const side = z.object({
  contentType: z.string().describe('The Content-Type that was sent with it; empty: none.'),
  text: z.string().nullable().describe('null: it is not text, or could not be decompressed.'),
  bytes: z.int().describe('Bytes that were copied.'),
  cut: z.boolean().describe('Whether there was more than was kept.'),
});
export const shownContent = z.object({
  id: z.uuid().describe('Request id of the call.'),
  family: z.string().describe('The protocol in which both are.'),
  operation: z.string().describe('What was asked for, as the log names it.'),
  requestedModel: z.string().nullable(),
  request: side,
  answer: side,
  keepUntil: z.iso.datetime().describe('When it is deleted.'),
});
export type ShownContent = z.output<typeof shownContent>;
