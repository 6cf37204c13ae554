import { Badge, type BadgeTone } from '#components/ui/badge';

interface CallStatusProps {
  /** HTTP status sent to the client. */
  status: number;
  errorCode: string | null;
  /** How the call ended; shows a broken stream despite a 200. */
  endReason: string;
}

const endings: Record<string, { tone: BadgeTone; text: string }> = {
  client_gone: { tone: 'warn', text: 'client disconnected' },
  upstream_error: { tone: 'bad', text: 'provider error' },
  timeout: { tone: 'bad', text: 'timed out' },
  interrupted: { tone: 'bad', text: 'interrupted' },
  refused: { tone: 'warn', text: 'refused' },
};

/** The status of a call in a few words: a 200 whose stream broke is not a success. */
export function describeStatus({ status, errorCode, endReason }: CallStatusProps): {
  tone: BadgeTone;
  text: string;
} {
  if (status < 400) {
    const ending = endings[endReason];
    return ending ? { tone: ending.tone, text: ending.text } : { tone: 'good', text: 'OK' };
  }
  const fallback = endings[endReason]?.text ?? 'provider error';
  return { tone: status >= 500 || status === 429 ? 'bad' : 'warn', text: errorCode ?? fallback };
}

/** Only the HTTP status, colored by how the call ended. */
export function StatusCode(props: CallStatusProps) {
  return (
    <Badge tone={describeStatus(props).tone} dot className="tabular-nums">
      {props.status}
    </Badge>
  );
}

/** The status and its meaning in one badge. */
export function CallStatus(props: CallStatusProps) {
  const { tone, text } = describeStatus(props);
  return (
    <Badge tone={tone} dot className="max-w-full whitespace-normal">
      <span className="tabular-nums">{props.status}</span>
      <span className="min-w-0 font-normal [overflow-wrap:anywhere]">{text}</span>
    </Badge>
  );
}
