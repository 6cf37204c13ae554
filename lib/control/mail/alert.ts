import { alertKinds } from '#lib/control/alerts/kinds';
import { alertWords } from '#lib/control/alerts/words';
import type { Mail } from '#lib/control/mail/drain';
import { type Letter, writeLetter } from '#lib/control/mail/letter';

/** Tells owners and admins what the console and the webhooks tell too. @returns null for a kind of another version. */
export function alertLetter(publicUrl: string, { recipient, facts }: Mail): Letter | null {
  const kind = alertKinds.find((one) => one === facts.kind);
  if (kind === undefined) return null;
  const { title, text, page } = alertWords(kind, readFacts(facts.facts));
  const [slug, workspace] = [String(facts.slug), String(facts.workspace)];
  return writeLetter({
    to: recipient,
    subject: `${workspace}: ${title}`,
    paragraphs: [text],
    action: { label: 'Open it in the console', link: `${publicUrl}/${encodeURIComponent(slug)}/${page}` },
    notes: [
      'You get one such mail when it begins.',
      `You get it as an owner or admin of the workspace ${workspace}, whose settings say what is told.`,
    ],
  });
}

/** An outbox holds plain values; these stand in one as JSON. */
function readFacts(stored: unknown): Readonly<Record<string, unknown>> {
  const read: unknown = typeof stored === 'string' ? JSON.parse(stored) : null;
  return typeof read === 'object' && read !== null ? { ...read } : {};
}
