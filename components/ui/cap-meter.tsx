/** How much of a cap is used, as a bar, with its figures behind it. @param props.used share of the cap, 0 to 1 and more. */
export function CapMeter({ used, text }: { used: number; text?: string }) {
  const part = Math.min(1, Math.max(0, used));
  return (
    <span className="mt-1 flex items-center gap-2">
      <svg aria-hidden className="h-1 w-20 shrink-0 rounded-full bg-hover" preserveAspectRatio="none">
        <rect
          width={`${part * 100}%`}
          height="100%"
          rx="2"
          className={part >= 1 ? 'fill-bad' : part >= 0.8 ? 'fill-warn' : 'fill-accent'}
        />
      </svg>
      {text === undefined ? null : <span className="whitespace-nowrap text-muted text-xs">{text}</span>}
    </span>
  );
}
