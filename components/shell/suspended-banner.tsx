interface SuspendedBannerProps {
  /** As the operator wrote it; null: none was given. */
  reason: string | null;
  /** An email address, a link or other words; null: none was given. */
  contact: string | null;
}

/** On every page of a suspended workspace: why, and whom to ask. */
export function SuspendedBanner({ reason, contact }: SuspendedBannerProps) {
  return (
    <div role="status" className="grid gap-1 rounded-lg bg-bad-soft px-4 py-2.5 text-bad leading-5">
      <p className="font-medium">This workspace is suspended: every call is refused with 403.</p>
      {reason === null ? null : <p className="[overflow-wrap:anywhere]">Reason: {reason}</p>}
      <p className="[overflow-wrap:anywhere]">
        {contact === null ? (
          'Contact your gateway administrator.'
        ) : (
          <>
            Contact: <Contact text={contact} />
          </>
        )}
      </p>
    </div>
  );
}

const isEmail = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const isLink = /^https?:\/\/\S+$/;

function Contact({ text }: { text: string }) {
  const href = isEmail.test(text) ? `mailto:${text}` : isLink.test(text) ? text : null;
  if (href === null) return text;
  return (
    <a href={href} rel="noreferrer" className="font-medium underline underline-offset-2">
      {text}
    </a>
  );
}
