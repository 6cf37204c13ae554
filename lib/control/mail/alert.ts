import { alertKinds } from '#lib/control/alerts/kinds';
import { alertWords } from '#lib/control/alerts/words';
import type { Mail } from '#lib/control/mail/drain';
import { type Letter, writeLetter } from '#lib/control/mail/letter';

/** Mails an alert to owners and admins. @returns null for a kind that this version does not know. */
export function alertLetter(publicUrl: string, { recipient, facts }: Mail): Letter | null {
  const kind = alertKinds.find((one) => one === facts.kind);
  if (kind === undefined) return null;
  const { title, text, page } = alertWords(kind, readFacts(facts.facts));
  const [slug, workspace] = [String(facts.slug), String(facts.workspace)];
  return writeLetter({
    to: recipient,
    subject: `${workspace}: ${title}`,
    paragraphs: [text],
    action: { label: 'Open in console', link: `${publicUrl}/${encodeURIComponent(slug)}/${page}` },
    notes: [
      'This email is sent once, when the problem starts.',
      `You received it because you are an owner or admin of the workspace ${workspace}. Its settings control which alerts are sent.`,
    ],
  });
}

/** The outbox stores plain values, so these are one value, as JSON. */
function readFacts(stored: unknown): Readonly<Record<string, unknown>> {
  const read: unknown = typeof stored === 'string' ? JSON.parse(stored) : null;
  return typeof read === 'object' && read !== null ? { ...read } : {};
}
