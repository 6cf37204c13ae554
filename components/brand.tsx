/** The logo: three lines that merge at a gate and leave as one. */
function Mark({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 24 24" fill="none" aria-hidden className={className}>
      <rect width="24" height="24" rx="6" className="fill-accent" />
      <path
        d="M4.5 6.5h2.6c3 0 2.9 5.5 5.9 5.5h6.5M4.5 12h15M4.5 17.5h2.6c3 0 2.9-5.5 5.9-5.5"
        className="stroke-on-accent"
        strokeWidth="1.75"
        strokeLinecap="round"
      />
      <circle cx="19" cy="12" r="2" className="fill-on-accent" />
    </svg>
  );
}

export function Wordmark() {
  return (
    <span className="flex items-center gap-2 font-semibold text-[0.9375rem] tracking-tight">
      <Mark className="size-6" />
      Model Gateway
    </span>
  );
}
